import Foundation
import Glibc
import GtkKit

/// The gnome-keyring daemon with an unlocked login keyring.
@MainActor
final class SecretService {
    private let process = Process()

    init() throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"]
        let password = Pipe()
        process.standardInput = password
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        try password.fileHandleForWriting.write(contentsOf: Data("password".utf8))
        try password.fileHandleForWriting.close()
        let isStarted = MainLoop.pump(forAtMost: 30) {
            !self.process.isRunning
                || self.output(of: Self.busCall("NameHasOwner", "org.freedesktop.secrets")).contains("true")
        }
        guard isStarted, process.isRunning else { throw NotStarted() }
    }

    /// Locks the keyring, as the desktop does.
    func lock() throws {
        let collection = "/org/freedesktop/secrets/collection/login"
        let response = output(of: [
            "gdbus", "call", "--session", "--dest", "org.freedesktop.secrets", "--object-path",
            "/org/freedesktop/secrets", "--method", "org.freedesktop.Secret.Service.Lock", "['\(collection)']",
        ])
        guard response.contains(collection) else { throw NotStarted() }
    }

    /// Adds a collection that nobody has unlocked, as empty as the login keyring.
    /// - Returns: its file.
    func addLockedCollection() throws -> URL {
        let data = ProcessInfo.processInfo.environment["XDG_DATA_HOME"] ?? NSHomeDirectory() + "/.local/share"
        let folder = URL(fileURLWithPath: data).appendingPathComponent("keyrings")
        let file = folder.appendingPathComponent("other.keyring")
        try FileManager.default.copyItem(at: folder.appendingPathComponent("login.keyring"), to: file)
        // The daemon notices a change of the folder by its time in seconds, which has to be another one.
        let later = Date(timeIntervalSinceNow: 2)
        try FileManager.default.setAttributes([.modificationDate: later], ofItemAtPath: folder.path)
        let isListed = MainLoop.pump(forAtMost: 30) { self.collections.contains("/other'") }
        guard isListed else { throw NotStarted() }
        return file
    }

    /// The daemon looks for new files when it is asked for this.
    private var collections: String {
        output(of: [
            "gdbus", "call", "--session", "--dest", "org.freedesktop.secrets", "--object-path",
            "/org/freedesktop/secrets", "--method", "org.freedesktop.DBus.Properties.Get",
            "org.freedesktop.Secret.Service", "Collections",
        ])
    }

    func end() {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        _ = MainLoop.pump(forAtMost: 30) {
            self.output(of: Self.busCall("NameHasOwner", "org.freedesktop.secrets")).contains("false")
        }
    }

    private static func busCall(_ method: String, _ name: String) -> [String] {
        [
            "gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path", "/org/freedesktop/DBus",
            "--method", "org.freedesktop.DBus.\(method)", name,
        ]
    }

    private func output(of words: [String]) -> String {
        let tool = Process()
        let output = Pipe()
        tool.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        tool.arguments = words
        tool.standardOutput = output
        tool.standardError = FileHandle.nullDevice
        // Without the tool the service never starts, which `init()` reports.
        guard (try? tool.run()) != nil else { return "" }
        let data = output.fileHandleForReading.readDataToEndOfFile()
        tool.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }

    struct NotStarted: Error, CustomStringConvertible {
        let description = "gnome-keyring-daemon did not start: run 'make deps'"
    }
}
