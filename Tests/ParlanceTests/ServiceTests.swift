import ChatTestSupport
import Foundation
import XCTest

/// The program as a service, which starts GTK with its first window and then behaves as after any other start.
final class ServiceTests: XCTestCase {
    private static let drivers = ["libLLVM", "swrast_dri", "libgallium"]

    /// D-Bus starts the service for a request. If none arrives, it must not keep running.
    func testServiceShowsNoWindowAndEndsUnasked() throws {
        let service = try ParlanceProcess(arguments: ["--gapplication-service"])
        while service.isRunning { XCTAssertFalse(service.hasWindow) }
        XCTAssertEqual(service.waitForEnd().status, 0)
        XCTAssertTrue(FileManager.default.fileExists(atPath: service.store.path), "it had opened its store")
    }

    func testServiceShowsAWindowWhenActivated() throws {
        let service = try ParlanceProcess(arguments: ["--gapplication-service"])
        try service.waitForName()
        XCTAssertEqual(try ParlanceProcess(home: service.home).waitForEnd().status, 0)
        try service.waitForWindow()
        try service.press("ctrl+q")
        XCTAssertEqual(service.waitForEnd().status, 0)
    }

    func testDesktopSearchFindsRoomsAndOpensThem() throws {
        let service = try ParlanceProcess(arguments: ["--gapplication-service"])
        try service.waitForName()
        let found = try service.searchProvider("GetInitialResultSet", "['not']")
        let id = try XCTUnwrap(found.split(separator: "'").dropFirst().first.map(String.init), found)
        let described = try service.searchProvider("GetResultMetas", "['\(id)']")
        XCTAssertTrue(described.contains("'Notes'"), described)
        XCTAssertFalse(service.hasWindow)
        _ = try service.searchProvider("ActivateResult", "'\(id)'", "['not']", "uint32 0")
        try service.waitForWindow()
        _ = try service.searchProvider("LaunchSearch", "['not']", "uint32 0")
        try service.waitForDialog()
        service.kill()
    }

    func testDesktopSearchIsAnsweredWhereTheStoreCannotBeOpened() throws {
        let home = TemporaryFolder()
        let file = home.url.appending(path: "a-file")
        try Data().write(to: file)
        let service = try ParlanceProcess(arguments: ["--gapplication-service"], home: home, data: file.path)
        try service.waitForName()
        for _ in 1...2 {
            // The first request may be received before the failure, the second only after it.
            XCTAssertEqual(try service.searchProvider("GetInitialResultSet", "['not']"), "(@as [],)")
        }
        XCTAssertEqual(try service.searchProvider("GetResultMetas", "['x']"), "(@aa{sv} [],)")
        try service.waitForWindow()
        try service.press("Return")
        let end = service.waitForEnd()
        XCTAssertEqual(end.status, 1)
        XCTAssertTrue(end.errors.contains("the desktop's search has no results"), end.errors)
    }

    func testServiceStartsGTKForItsFirstWindow() throws {
        let service = try ParlanceProcess(
            arguments: ["--gapplication-service"], settings: "run-in-background='yes'\ntext-zoom=200")
        try service.waitForName()
        // The response comes from the store, so the session is running.
        let found = try service.searchProvider("GetInitialResultSet", "['not']")
        XCTAssertEqual(found.split(separator: "'").count, 3, found)
        XCTAssertFalse(try service.hasStartedToolkit())
        let libraries = try service.libraries()
        for name in Self.drivers {
            XCTAssertFalse(libraries.contains { $0.hasPrefix(name) }, "\(name) is loaded")
        }
        let small = try service.writtenKilobytes()

        XCTAssertEqual(try service.launchAgain().status, 0)
        try service.waitForWindow()
        XCTAssertTrue(try service.hasStartedToolkit())
        XCTAssertGreaterThan(try service.writtenKilobytes(), small + small / 4)
        // Keyboard shortcuts work in the first window as well as in the next one.
        try service.press("ctrl+k")
        try service.waitForDialog()
        try service.press("Escape")
        _ = try service.until("the window alone") { service.windowCount == 1 ? true : nil }
        try service.press("ctrl+w")
        _ = try service.until("no window") { service.hasWindow ? nil : true }
        XCTAssertEqual(try service.launchAgain().status, 0)
        try service.waitForWindow()
        try service.type("Typed later")
        _ = try service.until("the text") { try service.copyComposerText() == "Typed later" ? true : nil }
        try service.press("ctrl+q")
        let end = service.waitForEnd()
        XCTAssertEqual(end.status, 0)
        XCTAssertEqual(end.errors, "")
    }

    /// GTK cannot be stopped: some time after the last window, a service takes the place of the process.
    func testProcessWithoutAWindowBecomesAService() throws {
        let writing = try ParlanceProcess(settings: "run-in-background='yes'")
        try writing.waitForWindow()
        try writing.type("Half a draft")
        try writing.press("ctrl+q")
        XCTAssertEqual(writing.waitForEnd().status, 0)
        // A draft of the session before, which nobody can undo any more.
        let program = try ParlanceProcess(home: writing.home, changes: ["GSETTINGS_BACKEND": "keyfile"])
        try program.waitForWindow()
        try program.press("ctrl+w")
        _ = try program.until("no window") { program.hasWindow ? nil : true }
        XCTAssertTrue(try program.hasStartedToolkit())
        let large = try program.writtenKilobytes()
        _ = try program.until("a process without GTK") { try program.hasStartedToolkit() ? nil : true }
        try program.waitForName()
        XCTAssertEqual(try program.searchProvider("GetInitialResultSet", "['not']").split(separator: "'").count, 3)
        XCTAssertLessThan(try program.writtenKilobytes(), large - large / 4)
        XCTAssertFalse(program.hasWindow)

        XCTAssertEqual(try program.launchAgain().status, 0)
        try program.waitForWindow()
        _ = try program.until("the draft") { try program.copyComposerText() == "Half a draft" ? true : nil }
        try program.press("ctrl+q")
        let end = program.waitForEnd()
        XCTAssertEqual(end.status, 0)
        XCTAssertEqual(end.errors, "")
    }

    /// A request finds the process before, the one after or none; it must not be taken and lost with the process.
    func testRestartLosesNoRequest() throws {
        let program = try ParlanceProcess(settings: "run-in-background='yes'")
        try program.waitForWindow()
        try program.press("ctrl+w")
        _ = try program.until("no window") { program.hasWindow ? nil : true }
        let name = "io.github.parlance_chat.Parlance"
        let list = [
            "gdbus", "call", "--session", "--dest", name, "--object-path", "/\(name.replacing(".", with: "/"))",
            "--method", "org.gtk.Actions.List",
        ]
        let replies = program.home.url.appending(path: "replies")
        try Data().write(to: replies)
        let asking = Process()
        asking.executableURL = URL(fileURLWithPath: "/bin/sh")
        asking.arguments = ["-c", "while test -e '\(replies.path)'; do \"$@\"; done", "sh"] + list
        asking.standardOutput = try FileHandle(forWritingTo: replies)
        asking.standardError = asking.standardOutput
        try asking.run()
        defer { asking.terminate() }
        _ = try program.until("a process without GTK") { try program.hasStartedToolkit() ? nil : true }
        try program.waitForName()
        XCTAssertTrue(try ParlanceProcess.tool(list).hasPrefix("(['"))
        let lines = Set(try String(contentsOf: replies, encoding: .utf8).split(separator: "\n"))
        XCTAssertEqual(lines.filter { !$0.hasPrefix("(['") && !$0.contains("ServiceUnknown") }, [])
        program.kill()
    }

    func testFirstWindowOfAServiceHasTheChosenColors() throws {
        let service = try ParlanceProcess(
            arguments: ["--gapplication-service"], settings: "run-in-background='no'\ncolor-scheme='dark'")
        try service.waitForName()
        XCTAssertEqual(try service.launchAgain().status, 0)
        try service.waitForWindow()
        _ = try service.until("a dark window") { try service.brightness() < 0.3 ? true : nil }
        try service.press("ctrl+q")
        XCTAssertEqual(service.waitForEnd().errors, "")
    }

    /// The desktop's settings change the file that starts the program at login, and know nothing of the program's.
    func testStartAtLoginThatTheDesktopHasTurnedOffStaysOff() throws {
        let command = "Exec=parlance --gapplication-service"
        for file in [
            nil, "[Desktop Entry]\n\(command)\nHidden=true\n",
            "[Desktop Entry]\nX-GNOME-Autostart-enabled = false\n\(command)\n",
        ] {
            let service = try ParlanceProcess(
                arguments: ["--gapplication-service"], settings: "start-at-login=true\nrun-in-background='yes'",
                autostart: file)
            try service.waitForSetting("start-at-login=false")
            XCTAssertEqual(service.autostart, file)
            service.kill()
        }
    }

    /// A program that starts at login must not end for want of a window.
    func testStartAtLoginAndRunningWithoutAWindowGoTogether() throws {
        let service = try ParlanceProcess(
            arguments: ["--gapplication-service"], settings: "run-in-background='no'")
        try service.waitForName()
        // The session is open, and the settings are followed.
        _ = try service.searchProvider("GetInitialResultSet", "['not']")
        try service.write(settings: "run-in-background='no'\nstart-at-login=true")
        try service.waitForSetting("run-in-background='yes'")
        let file = try XCTUnwrap(service.autostart)
        XCTAssertTrue(file.contains("Exec=\(ParlanceProcess.program.path) --gapplication-service"), file)
        // In another order: GLib takes a file for unchanged that has the contents it read last, also when the program has
        // written others while it was told of them.
        try service.write(settings: "start-at-login=true\nrun-in-background='no'")
        try service.waitForSetting("start-at-login=false")
        _ = try service.until("no file") { service.autostart == nil ? true : nil }
        service.kill()
    }

    func testServiceOfAnEarlierVersionThatStartsAtLoginGoesOn() throws {
        let service = try ParlanceProcess(
            arguments: ["--gapplication-service"], settings: "start-at-login=true\nrun-in-background='ask'",
            autostart: "[Desktop Entry]\nExec=parlance\n")
        try service.waitForSetting("run-in-background='yes'")
        try service.waitForName()
        XCTAssertEqual(try service.launchAgain("--quit").status, 0)
        XCTAssertEqual(service.waitForEnd().errors, "")
    }

    func testServiceWithoutADisplayGoesOn() throws {
        let service = try ParlanceProcess(
            arguments: ["--gapplication-service"], settings: "run-in-background='yes'",
            changes: ["DISPLAY": nil, "WAYLAND_DISPLAY": nil])
        try service.waitForName()
        let first = try service.searchProvider("GetInitialResultSet", "['not']")
        let id = try XCTUnwrap(first.split(separator: "'").dropFirst().first.map(String.init), first)
        for _ in 1...2 {
            XCTAssertEqual(try service.launchAgain().status, 0)
            _ = try service.searchProvider("ActivateResult", "'\(id)'", "['not']", "uint32 0")
        }
        XCTAssertEqual(try service.searchProvider("GetInitialResultSet", "['not']"), first)
        XCTAssertTrue(service.isRunning)
        XCTAssertFalse(service.hasWindow)
        XCTAssertEqual(try service.launchAgain("--quit").status, 0)
        let end = service.waitForEnd()
        XCTAssertEqual(end.status, 0)
        let lines = end.errors.split(separator: "\n")
        XCTAssertEqual(lines.count, 4, end.errors)
        XCTAssertTrue(lines.allSatisfy { $0.contains("cannot open a display") }, end.errors)
    }

    func testServiceWithoutADisplayOrAStoreSaysSoAndEnds() throws {
        let home = TemporaryFolder()
        let file = home.url.appending(path: "a-file")
        try Data().write(to: file)
        let service = try ParlanceProcess(
            arguments: ["--gapplication-service"], home: home, data: file.path,
            changes: ["DISPLAY": nil, "WAYLAND_DISPLAY": nil])
        let end = service.waitForEnd()
        XCTAssertEqual(end.status, 1)
        XCTAssertEqual(end.errors.split(separator: "\n").count, 1, end.errors)
        XCTAssertTrue(end.errors.contains(file.path), end.errors)
    }

    func testStartWithoutADisplaySaysSo() throws {
        let end = try ParlanceProcess(changes: ["DISPLAY": nil, "WAYLAND_DISPLAY": nil]).waitForEnd()
        XCTAssertEqual(end.status, 1)
        XCTAssertTrue(end.errors.contains("cannot open a display"), end.errors)
    }

    /// With `GSK_RENDERER=cairo`, nothing renders with GL.
    func testNoDriverOfGLIsLoadedWhereNothingDrawsWithIt() throws {
        let program = try ParlanceProcess(changes: ["GSK_RENDERER": "cairo", "GDK_DEBUG": nil, "GDK_DISABLE": nil])
        try program.waitForWindow()
        let libraries = try program.libraries()
        for name in Self.drivers {
            XCTAssertFalse(libraries.contains { $0.hasPrefix(name) }, "\(name) is loaded")
        }
        try program.press("ctrl+q")
        XCTAssertEqual(program.waitForEnd().errors, "")
    }
}

extension ParlanceProcess {
    /// Starts the program again in the same home folder and waits until it exits: it forwards its request to the
    /// running instance.
    fileprivate func launchAgain(_ arguments: String...) throws -> (status: Int32, errors: String) {
        try ParlanceProcess(arguments: arguments, home: home, changes: ["GSETTINGS_BACKEND": "keyfile"]).waitForEnd()
    }

    /// The file names of the loaded libraries.
    func libraries() throws -> Set<Substring> {
        let maps = try Self.tool("cat", "/proc/\(process.processIdentifier)/maps")
        return Set(maps.split(whereSeparator: { $0 == "\n" || $0 == "/" }).filter { $0.contains(".so") })
    }

    /// Whether the process has started GTK, which opens the display and loads the fonts.
    fileprivate func hasStartedToolkit() throws -> Bool {
        try Self.tool("cat", "/proc/\(process.processIdentifier)/maps").contains("/fontconfig/")
    }

    /// What the process has written in its memory. A proportional size would fall when another process starts.
    fileprivate func writtenKilobytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/smaps_rollup", encoding: .utf8)
        return try XCTUnwrap(Int(status.firstMatch(of: /Private_Dirty: +(\d+)/)?.1 ?? ""), status)
    }

    /// The mean brightness of the focused window, from 0 to 1.
    fileprivate func brightness() throws -> Double {
        let window = try Self.tool("xdotool", "getwindowfocus")
        let text = try Self.tool(
            "sh", "-c", "import -window \(window) png:- | convert - -colorspace Gray -format '%[fx:mean]' info:")
        return Double(text) ?? 1
    }
}
