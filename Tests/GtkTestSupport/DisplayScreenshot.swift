import Foundation

/// A screenshot of the whole display, for diagnosing a failed test.
enum DisplayScreenshot {
    /// Writes `.build/failures/NAME.png` and logs the pointer's position. Without ImageMagick, only logs a message.
    static func save(named name: String) {
        let folder = URL(fileURLWithPath: ".build/failures", isDirectory: true)
        let file = folder.appending(path: "\(name).png")
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try run("import", "-window", "root", file.path)
            print("the display when it failed: \(file.path)")
            try run("xdotool", "getmouselocation")
        } catch {
            print("no picture of the display: \(error)")
        }
    }

    private static func run(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["timeout", "10"] + arguments
        // `waitUntilExit()` would run the main loop meanwhile.
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        try process.run()
        ended.wait()
    }
}
