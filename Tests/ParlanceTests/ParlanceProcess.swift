import ChatStore
import ChatTestSupport
import Foundation
import Glibc
import LocalBackend
import Synchronization
import XCTest

/// The built application in its own home folder, driven by real key events.
final class ParlanceProcess {
    let home: TemporaryFolder
    private(set) var process = Process()
    private let errors = Pipe()

    /// - Parameters:
    ///   - home: the home folder; by default a new one in which Parlance was used before.
    ///   - data: the value of `XDG_DATA_HOME`; a folder in the home by default.
    ///   - changes: changes to the environment; `nil` unsets a variable.
    init(
        arguments: [String] = [], home: TemporaryFolder? = nil, data: String? = nil,
        changes: [String: String?] = [:]
    ) throws {
        let home = try home ?? Self.usedHome()
        self.home = home
        var environment = ProcessInfo.processInfo.environment
        environment["XDG_DATA_HOME"] = data ?? home.url.appending(path: "data").path
        environment["XDG_CONFIG_HOME"] = home.url.appending(path: "config").path
        environment["XDG_CACHE_HOME"] = home.url.appending(path: "cache").path
        for (name, value) in changes { environment[name] = value }
        process.executableURL = Self.program
        process.arguments = arguments
        process.environment = environment
        process.standardError = errors
        process.standardOutput = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
    }

    /// Starts with stored settings, in a new home folder.
    /// - Parameters:
    ///   - settings: lines of a keyfile.
    ///   - autostart: the file that starts the program at login; `nil` for none.
    convenience init(
        arguments: [String] = [], settings: String, autostart: String? = nil, changes: [String: String?] = [:]
    ) throws {
        let home = try Self.usedHome()
        try Self.write(settings, in: home)
        if let autostart {
            let file = Self.autostart(in: home)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(autostart.utf8).write(to: file)
        }
        try self.init(
            arguments: arguments, home: home,
            changes: changes.merging(["GSETTINGS_BACKEND": "keyfile"]) { given, _ in given })
    }

    private static func keyfile(in home: TemporaryFolder) -> URL {
        home.url.appending(path: "config/glib-2.0/settings/keyfile")
    }

    private static func autostart(in home: TemporaryFolder) -> URL {
        home.url.appending(path: "config/autostart/io.github.parlance_chat.Parlance.desktop")
    }

    private static func write(_ settings: String, in home: TemporaryFolder) throws {
        let file = keyfile(in: home)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("[io/github/parlance_chat/Parlance]\n\(settings)\n".utf8).write(to: file, options: .atomic)
    }

    /// Replaces the stored settings, as another program would: a running one follows them.
    func write(settings: String) throws { try Self.write(settings, in: home) }

    /// Waits until a line is among the stored settings.
    func waitForSetting(_ line: String) throws {
        _ = try until("the setting \(line)") {
            let text = try? String(contentsOf: Self.keyfile(in: home), encoding: .utf8)
            return text?.split(separator: "\n").contains { $0 == line } == true ? true : nil
        }
    }

    /// The file that starts the program at login, or `nil` if there is none.
    var autostart: String? { try? String(contentsOf: Self.autostart(in: home), encoding: .utf8) }

    private final class Made: Sendable {
        let signal = DispatchSemaphore(value: 0)
        let failure = Mutex<(any Error)?>(nil)
    }

    /// Returns a home folder with the first rooms, as after they were chosen at the first start.
    /// - Parameter change: what else to store.
    static func usedHome(
        _ change: @escaping @Sendable (ChatStore) async throws -> Void = { _ in }
    ) throws -> TemporaryFolder {
        let home = TemporaryFolder()
        let folder = home.url.appending(path: "data/parlance")
        let made = Made()
        // Not on the main thread, which is blocked until this is done.
        Task.detached {
            do {
                let store = try ChatStore(folder: folder)
                let backend = try await LocalBackend.start(over: store, ownDisplayName: "Robin")
                await backend.close()
                try await change(store)
                await store.close()
            } catch {
                made.failure.withLock { $0 = error }
            }
            made.signal.signal()
        }
        made.signal.wait()
        if let error = made.failure.withLock({ $0 }) { throw error }
        return home
    }

    /// Ends a process left by a failed test: as the primary instance it would take over every later start.
    deinit {
        if process.isRunning { kill() }
    }

    static var program: URL {
        // The program names itself so in what it writes.
        URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "parlance")
    }

    var store: URL { home.url.appending(path: "data/parlance") }
    var isRunning: Bool { process.isRunning }

    /// Waits for the process to end and returns its exit status and standard error.
    func waitForEnd() -> (status: Int32, errors: String) {
        let data = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }

    /// Sends SIGKILL and waits for the process to end.
    func kill() {
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        // Wait until the bus has released the name: a new instance would otherwise activate the dead one.
        while (try? Self.tool(Self.askForOwner))?.contains("true") == true {}
    }

    /// Waits until the process owns the application's bus name.
    func waitForName() throws {
        _ = try until("the name") { try? Self.tool(Self.askForOwner).contains("true") ? true : nil }
    }

    /// Calls a method of the search provider and returns the reply in GVariant text format.
    func searchProvider(_ method: String, _ arguments: String...) throws -> String {
        try Self.tool(
            [
                "gdbus", "call", "--session", "--dest", "io.github.parlance_chat.Parlance", "--object-path",
                "/io/github/parlance_chat/Parlance/SearchProvider", "--method",
                "org.gnome.Shell.SearchProvider2.\(method)",
            ] + arguments)
    }

    /// Whether an action of the application is enabled.
    func isEnabled(_ action: String) throws -> Bool {
        try Self.tool(Self.actions("Describe") + [action]).hasPrefix("((true,")
    }

    /// Activates an action of the application.
    func activate(_ action: String) throws { try Self.tool(Self.actions("Activate") + [action, "[]", "{}"]) }

    private static func actions(_ method: String) -> [String] {
        [
            "gdbus", "call", "--session", "--dest", "io.github.parlance_chat.Parlance", "--object-path",
            "/io/github/parlance_chat/Parlance", "--method", "org.gtk.Actions.\(method)",
        ]
    }

    private static let askForOwner = [
        "gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path", "/org/freedesktop/DBus",
        "--method", "org.freedesktop.DBus.NameHasOwner", "io.github.parlance_chat.Parlance",
    ]

    // MARK: The window

    /// Whether the process has a visible window.
    var hasWindow: Bool { !visibleWindows.isEmpty }

    private var visibleWindows: [String] {
        // `xdotool` fails if it finds no window.
        let found = try? Self.tool(
            "xdotool", "search", "--onlyvisible", "--pid", "\(process.processIdentifier)", "--name", ".")
        return found?.split(separator: "\n").map(String.init) ?? []
    }

    /// The number of visible windows.
    var windowCount: Int { visibleWindows.count }

    /// The titles of the visible windows.
    var windowTitles: [String] {
        // The window may have been closed meanwhile.
        visibleWindows.compactMap { try? Self.tool("xdotool", "getwindowname", $0) }
    }

    /// The title of the focused window, or `nil` if none is focused.
    var focusedTitle: String? { try? Self.tool("xdotool", "getwindowfocus", "getwindowname") }

    /// The window that was focused last.
    private var window: String?

    /// Waits for the window and focuses it.
    func waitForWindow() throws {
        let id = try until("a window") { visibleWindows.first }
        window = id
        // Retry, whatever the error: the window manager may reject activation of a window it has only just mapped.
        _ = try until("the focus") {
            _ = try? Self.tool("xdotool", "windowactivate", id)
            return try? Self.tool("xdotool", "getwindowfocus") == id ? true : nil
        }
    }

    /// Opens the room in a window of its own, and waits until that has the focus.
    func openWindow(named title: String) throws {
        _ = try until("the window \(title)") { () -> Bool? in
            if focusedTitle == title { return true }
            // The key is ignored while the room is not open yet.
            if windowCount == 1 { try press("ctrl+shift+n") }
            return nil
        }
    }

    /// Waits for a window by its title, and focuses it.
    func focusWindow(named title: String) throws {
        _ = try until("the window \(title)") { () -> Bool? in
            let names = visibleWindows.map { ($0, try? Self.tool("xdotool", "getwindowname", $0)) }
            guard let id = names.first(where: { $0.1 == title })?.0 else { return nil }
            // The window manager may reject it: the next round retries.
            _ = try? Self.tool("xdotool", "windowactivate", id)
            window = id
            return focusedTitle == title ? true : nil
        }
    }

    /// Waits for a dialog with the focus over the window.
    func waitForDialog() throws {
        _ = try until("a dialog") { () -> Bool? in
            let windows = visibleWindows
            guard windows.count == 2, let focused = try? Self.tool("xdotool", "getwindowfocus") else { return nil }
            return windows.contains(focused) && focused != window ? true : nil
        }
    }

    func press(_ keys: String...) throws { try Self.tool(["xdotool", "key", "--delay", "20"] + keys) }
    func type(_ text: String) throws { try Self.tool("xdotool", "type", "--delay", "15", "--", text) }

    /// Selects all text of the composer, copies it and returns it.
    func copyComposerText() throws -> String {
        try press("ctrl+a", "ctrl+c")
        // The tool fails while the clipboard is empty, and waits for ever for an owner that is replaced meanwhile.
        return (try? Self.tool("timeout", "5", "xclip", "-out", "-selection", "clipboard")) ?? ""
    }

    /// Polls until there is a value; fails after a minute.
    func until<Answer>(_ what: String, _ ask: () throws -> Answer?) throws -> Answer {
        let deadline = Date().addingTimeInterval(60)
        while Date() < deadline {
            if let answer = try ask() { return answer }
            if !process.isRunning { throw Failure(message: "ended while waiting for \(what): \(waitForEnd())") }
        }
        throw Failure(message: "no \(what) within a minute")
    }

    struct Failure: Error, CustomStringConvertible {
        let message: String
        var description: String { message }
    }

    @discardableResult
    static func tool(_ words: String...) throws -> String { try tool(words) }

    @discardableResult
    static func tool(_ words: [String]) throws -> String {
        let tool = Process()
        let output = Pipe()
        tool.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        tool.arguments = words
        tool.standardOutput = output
        tool.standardError = FileHandle.nullDevice
        try tool.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        tool.waitUntilExit()
        guard tool.terminationStatus == 0 else {
            throw Failure(message: "\(words) ended with \(tool.terminationStatus)")
        }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}
