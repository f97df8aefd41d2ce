import ChatCore
import ChatViewModels
import Foundation
import GtkKit
import Observation

/// Running without a window, and from login on: the user's answer, and the desktop's permission.
final class BackgroundOperation {
    private let settings: Settings?
    private let portal: BackgroundPortal?
    private let translator: Translator
    private var status: Task<Void, Never>?

    private static let key = "run-in-background"
    private static let loginKey = "start-at-login"

    /// - Parameter portal: `nil` outside of a sandbox.
    init(settings: Settings?, portal: BackgroundPortal?, translator: Translator) {
        self.settings = settings
        self.portal = portal
        self.translator = translator
        settings?.onChange(of: Self.loginKey) { [weak self] in self?.applyStartAtLogin() }
        // The program may have moved since the file was written.
        if portal == nil, settings?.bool(Self.loginKey) == true { applyStartAtLogin() }
    }

    isolated deinit { status?.cancel() }

    var isAllowed: Bool { settings?.string(Self.key) == "yes" }
    /// Whether the user has not been asked yet. Without the settings schema the answer would be forgotten.
    var isUndecided: Bool { settings?.string(Self.key) == "ask" }

    /// Stores the user's answer, after asking the desktop for permission.
    /// - Parameter done: receives whether the desktop allows what the user wants.
    func decide(_ runs: Bool, _ done: @escaping @MainActor (Bool) -> Void) {
        guard runs, let portal else {
            settings?.set(Self.key, runs ? "yes" : "no")
            return done(true)
        }
        request(of: portal) { [weak self] permission in
            let isAllowed = permission?.runsInBackground == true
            self?.settings?.set(Self.key, isAllowed ? "yes" : "no")
            done(isAllowed)
        }
    }

    private func request(
        of portal: BackgroundPortal, _ done: @escaping @MainActor (BackgroundPortal.Permission?) -> Void
    ) {
        portal.request(
            startsAtLogin: settings?.bool(Self.loginKey) == true,
            reason: translator("Receive messages and show notifications"),
            commandLine: ["parlance", AutostartFile.option], done)
    }

    private func applyStartAtLogin() {
        guard let settings else { return }
        let starts = settings.bool(Self.loginKey)
        guard let portal else {
            do { try AutostartFile.set(starts) } catch {
                StandardError.write("cannot write \(AutostartFile.url.path)")
                if starts { settings.set(Self.loginKey, false) }
            }
            return
        }
        request(of: portal) { permission in
            if starts, permission?.startsAtLogin != true { settings.set(Self.loginKey, false) }
        }
    }

    /// Says in the desktop's list of background programs how much is unread.
    func follow(_ accounts: AccountsCoordinator) {
        guard let portal else { return }
        let translator = translator
        // The accounts of a session that has ended say nothing any more.
        status?.cancel()
        status = Task {
            for await text in Observations({ accounts.backgroundStatus(translator) }) {
                guard !Task.isCancelled else { return }
                portal.setStatus(text)
            }
        }
    }
}

/// The desktop file that starts the program at login (Desktop Application Autostart Specification).
enum AutostartFile {
    /// Starts the program without a window.
    static let option = "--gapplication-service"

    static var url: URL {
        DataFolder.configuration.appending(path: "autostart/\(ParlanceApplication.id).desktop")
    }

    /// Writes or removes the file.
    static func set(_ starts: Bool) throws {
        guard starts else {
            if FileManager.default.fileExists(atPath: url.path) { try FileManager.default.removeItem(at: url) }
            return
        }
        // Without /proc the program is found in PATH.
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "parlance"
        let text = """
            [Desktop Entry]
            Type=Application
            Name=Parlance
            Exec=\(DesktopEntryCommand(program, [option]).exec)
            Icon=\(ParlanceApplication.id)
            NoDisplay=true

            """
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url, options: .atomic)
    }
}
