import CGtk
import Foundation
import GtkTestSupport
import XCTest

@testable import GtkKit

/// Notifications in Dunst, with each of its markup settings.
final class DunstTests: GtkTestCase {
    @MainActor
    private static let application: Application = {
        let application = Application(id: "io.github.parlance_chat.Parlance.DunstTests")
        g_application_set_flags(application.cast(), shim_application_non_unique)
        g_application_register(application.cast(), nil, nil)
        return application
    }()

    func testTextIsShownAsItWasWritten() throws {
        try onMain {
            for markup in ["full", "strip", "no"] {
                let dunst = try Dunst(markup: markup)
                let notifier = FreedesktopNotifier(Self.application)
                let text = "Ann: <three> & <b>four</b> &lt;"
                notifier.send(
                    DesktopNotification(title: "Plans <1>", body: text, defaultAction: .init("open", "a/b")), as: "room"
                )
                XCTAssertTrue(MainLoop.pump { dunst.displayedCount == 1 }, markup)
                // Dunst only reports the texts of closed notifications.
                _ = try Dunst.control("close-all")
                XCTAssertTrue(MainLoop.pump { dunst.history.count == 1 }, markup)
                let shown = try XCTUnwrap(dunst.history.first)
                XCTAssertEqual(markup == "no" ? shown.body : Dunst.drawn(shown.body), text, markup)
                XCTAssertEqual(shown.title, "Plans <1>", markup)
                notifier.withdraw("room")
                dunst.end()
            }
        }
    }

    /// Saves screenshots in `.build/notifications`, for inspection.
    func testPictureShowsTheRoomsImageBesideSenderAndText() throws {
        try onMain {
            let dunst = try Dunst(
                markup: "full", style: "icon_position = left\nmax_icon_size = 64\nfont = Sans 11\nwidth = 360\n")
            let notifier = FreedesktopNotifier(Self.application)
            let color: [UInt8] = [230, 40, 160, 255]
            let avatar = DecodedImage(
                pixels: Array(repeating: color, count: 64 * 64).flatMap(\.self), width: 64, height: 64)
            notifier.send(
                DesktopNotification(
                    title: "Garden Plans", body: "Ann Lindqvist: Shall we meet at <three>?\nTomás: Yes & bring tea",
                    icon: avatar?.png, category: "im.received", defaultAction: .init("open", "a/b"),
                    buttons: [.init("Reply", .init("reply", "a/b"), acceptsText: true)]), as: "room")
            XCTAssertTrue(MainLoop.pump { dunst.displayedCount == 1 })
            let folder = URL(fileURLWithPath: ".build/notifications", isDirectory: true)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let file = folder.appending(path: "dunst.png")
            XCTAssertTrue(MainLoop.pump { Dunst.count(color, in: file) ?? 0 >= 60 * 60 }, "the room's image is drawn")
            notifier.withdraw("room")
            XCTAssertTrue(MainLoop.pump { dunst.displayedCount == 0 })
            let after = folder.appending(path: "withdrawn.png")
            // A leftover file is harmless.
            defer { try? FileManager.default.removeItem(at: after) }
            XCTAssertTrue(MainLoop.pump { Dunst.count(color, in: after) == 0 }, "nothing of it is left")
            dunst.end()
        }
    }

    /// Unlike other daemons, Dunst does not close a notification when one of its actions is invoked.
    func testAnsweredNotificationIsWithdrawn() throws {
        try onMain {
            let dunst = try Dunst(markup: "full")
            let notifier = FreedesktopNotifier(Self.application)
            var activated: [String] = []
            Self.application.addTextAction("open") { activated.append($0) }
            notifier.send(
                DesktopNotification(title: "Plans", body: "Hi", defaultAction: .init("open", "a/b")), as: "room")
            XCTAssertTrue(MainLoop.pump { dunst.displayedCount == 1 })
            _ = try Dunst.control("action", "0")
            XCTAssertTrue(MainLoop.pump { activated == ["a/b"] })
            notifier.withdraw("room")
            XCTAssertTrue(MainLoop.pump { dunst.displayedCount == 0 })
            dunst.end()
        }
    }
}

/// A Dunst process on the tests' session bus.
@MainActor
private final class Dunst {
    struct Shown: Equatable {
        let title: String
        let body: String
    }

    private let process = Process()
    private let folder: URL

    /// - Parameter style: additional lines of its configuration.
    init(markup: String, style: String = "") throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "dunst-\(UUID().uuidString)")
        guard (try? Self.run("sh", "-c", "command -v dunst && command -v dunstctl")) != nil else {
            throw XCTSkip("no Dunst here: build-aux/deps test installs it")
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let settings = folder.appending(path: "dunstrc")
        try Data("[global]\nmarkup = \(markup)\nformat = \"%s\\n%b\"\n\(style)".utf8).write(to: settings)
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["dunst", "-conf", settings.path]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        guard MainLoop.pump(until: { SessionBus.hasOwner("org.freedesktop.Notifications") && displayedCount == 0 })
        else {
            end()
            throw TimedOut()
        }
    }

    /// Terminates the process, and waits until its bus name is free.
    func end() {
        process.terminate()
        _ = MainLoop.pump { [process] in
            !process.isRunning && !SessionBus.hasOwner("org.freedesktop.Notifications")
        }
        // A leftover file is harmless.
        try? FileManager.default.removeItem(at: folder)
    }

    /// The number of displayed notifications, or `nil` if Dunst does not respond yet.
    var displayedCount: Int? { (try? Self.control("count", "displayed")).flatMap { Int($0) } }

    /// The closed notifications. With markup, the body is the text passed to Pango.
    var history: [Shown] {
        struct Answer: Decodable {
            struct Entry: Decodable {
                let summary: Text
                let body: Text
            }
            struct Text: Decodable { let data: String }
            let data: [[Entry]]
        }
        guard let text = try? Self.control("history"),
            let answer = try? JSONDecoder().decode(Answer.self, from: Data(text.utf8))
        else { return [] }
        return answer.data.joined().map { Shown(title: $0.summary.data, body: $0.body.data) }
    }

    /// The text that Pango renders for markup.
    static func drawn(_ markup: String) -> String {
        var text: UnsafeMutablePointer<CChar>?
        guard pango_parse_markup(markup, -1, 0, nil, &text, nil, nil) != 0, let text else {
            return "no markup: " + markup
        }
        defer { g_free(text) }
        return String(cString: text)
    }

    /// Takes a screenshot and returns how many of its pixels have a color.
    static func count(_ color: [UInt8], in file: URL) -> Int? {
        // The caller retries until there is a screenshot.
        guard (try? run("import", "-window", "root", file.path)) != nil,
            let texture = gdk_texture_new_from_filename(file.path, nil)
        else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
        let (width, height) = (Int(gdk_texture_get_width(texture)), Int(gdk_texture_get_height(texture)))
        var pixels = [UInt8](repeating: 0, count: width * height * 4)
        gdk_texture_download(texture, &pixels, gsize(width * 4))
        // GDK_MEMORY_DEFAULT is BGRA on little-endian machines.
        return stride(from: 0, to: pixels.count, by: 4).count { place in
            (0..<3).allSatisfy { abs(Int(pixels[place + 2 - $0]) - Int(color[$0])) <= 2 }
        }
    }

    static func control(_ words: String...) throws -> String { try run(["timeout", "20", "dunstctl"] + words) }

    private static func run(_ words: String...) throws -> String { try run(words) }

    private static func run(_ words: [String]) throws -> String {
        let tool = Process()
        let output = Pipe()
        tool.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        tool.arguments = words
        tool.standardOutput = output
        tool.standardError = FileHandle.nullDevice
        // `waitUntilExit()` would run the main loop.
        let ended = DispatchSemaphore(value: 0)
        tool.terminationHandler = { _ in ended.signal() }
        try tool.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        ended.wait()
        guard tool.terminationStatus == 0 else { throw TimedOut() }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
