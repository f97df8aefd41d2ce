import ChatCore
import ChatViewModels
import Foundation
import GtkKit
import Observation

/// Running without a window, and from login on: the user's answer, and the desktop's permission.
final class BackgroundOperation {
    /// Called when ``isAllowed`` may have changed.
    var onChange: (() -> Void)?

    private let settings: Settings?
    private let portal: BackgroundPortal?
    private let translator: Translator
    private var status: Task<Void, Never>?
    /// The setting as it was applied: a change of it may be reported more than once.
    private var startsAtLogin: Bool
    /// The changes of the file that starts the program at login, which wait for the disk.
    private let writes = DeliveryQueue()

    private static let key = "run-in-background"
    private static let loginKey = "start-at-login"

    /// - Parameter portal: `nil` outside of a sandbox.
    init(settings: Settings?, portal: BackgroundPortal?, translator: Translator) {
        self.settings = settings
        self.portal = portal
        self.translator = translator
        // The user may have turned it off in the desktop's settings, which know of the file only. In a sandbox the file
        // is not to be seen.
        var file: (isOn: Bool, corrected: String?)?
        if portal == nil, settings?.bool(Self.loginKey) == true { file = AutostartFile.read() }
        if file?.isOn == false { settings?.set(Self.loginKey, false) }
        startsAtLogin = settings?.bool(Self.loginKey) == true
        if let corrected = file?.corrected { replaceFile(by: corrected) }
        settings?.onChange(of: Self.loginKey) { [weak self] in self?.applyStartAtLogin() }
        settings?.onChange(of: Self.key) { [weak self] in
            self?.endDeniedStarts()
            self?.onChange?()
        }
        guard startsAtLogin else { return }
        // Earlier versions let one setting change without the other.
        if isUndecided { permitStarts() } else { endDeniedStarts() }
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
        guard let settings, settings.bool(Self.loginKey) != startsAtLogin else { return }
        startsAtLogin.toggle()
        let starts = startsAtLogin
        if let portal {
            if starts { permitStarts() } else { request(of: portal) { _ in } }
            return
        }
        replaceFile(by: starts ? AutostartFile.text : nil) { [weak self] isReplaced in
            // The user may have turned it off meanwhile.
            guard let self, starts, startsAtLogin else { return }
            if isReplaced { permitStarts() } else { settings.set(Self.loginKey, false) }
        }
    }

    /// Replaces the file that starts the program at login once earlier changes of it are done.
    /// - Parameters:
    ///   - text: `nil` removes the file.
    ///   - done: receives whether that worked.
    private func replaceFile(
        by text: String?, _ done: @escaping @MainActor (_ isReplaced: Bool) -> Void = { _ in }
    ) {
        let url = AutostartFile.url
        writes.add {
            do {
                try await AutostartFile.replace(url, by: text)
                done(true)
            } catch {
                StandardError.write("cannot write \(url.path)")
                done(false)
            }
        }
    }

    /// Waits for pending writes.
    func flush() async { await writes.finish() }

    /// Lets the program run without a window, as it starts at login: it would end after some seconds otherwise.
    private func permitStarts() {
        guard let portal else {
            if !isAllowed { settings?.set(Self.key, "yes") }
            return
        }
        request(of: portal) { [weak self] permission in
            // The user may have turned it off while the desktop was asking.
            guard let self, startsAtLogin else { return }
            if permission?.runsInBackground == true, !isAllowed { settings?.set(Self.key, "yes") }
            if permission?.startsAtLogin != true || !isAllowed { settings?.set(Self.loginKey, false) }
        }
    }

    /// No longer starts at login where the program may not run without a window.
    private func endDeniedStarts() {
        guard let settings, !isAllowed, !isUndecided, settings.bool(Self.loginKey) else { return }
        settings.set(Self.loginKey, false)
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

    static var text: String {
        """
        [Desktop Entry]
        Type=Application
        Name=Parlance
        Exec=\(command)
        Icon=\(ParlanceApplication.id)
        NoDisplay=true

        """
    }

    /// Writes the file, or removes it if there is no text.
    @concurrent
    static func replace(_ url: URL, by text: String?) async throws {
        guard let text else {
            if FileManager.default.fileExists(atPath: url.path) { try FileManager.default.removeItem(at: url) }
            return
        }
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url, options: .atomic)
    }

    /// Reads the file, which is a few lines: what the program does without a window depends on it.
    /// - Returns: Whether the file is there, has a command and was not disabled; and its text with the right command if it
    ///   has another one, as the program may have moved since the file was written.
    static func read() -> (isOn: Bool, corrected: String?) {
        guard FileManager.default.fileExists(atPath: url.path) else { return (false, nil) }
        guard let data = try? Data(contentsOf: url) else {
            // Whether it is disabled is unknown, so the setting stays.
            StandardError.write("cannot read \(url.path)")
            return (true, nil)
        }
        let text = String(decoding: data, as: UTF8.self)
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
        var (isEntry, hasCommand) = (false, false)
        for (index, line) in lines.enumerated() {
            if line.hasPrefix("[") { isEntry = line.hasPrefix("[Desktop Entry]") }
            guard isEntry, let separator = line.firstIndex(of: "=") else { continue }
            let value = line[line.index(after: separator)...].trimmingCharacters(in: .whitespaces)
            switch (line[..<separator].trimmingCharacters(in: .whitespaces), value) {
            case ("Hidden", "true"), ("X-GNOME-Autostart-enabled", "false"): return (false, nil)
            case ("Exec", _): (lines[index], hasCommand) = ("Exec=\(command)", true)
            default: break
            }
        }
        guard hasCommand else { return (false, nil) }
        let corrected = lines.joined(separator: "\n")
        return (true, corrected == text ? nil : corrected)
    }

    /// The command to run. Without `/proc`, and once the program was replaced or removed, it is found in PATH.
    private static var command: String {
        let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let program = path.flatMap { access($0, X_OK) == 0 ? $0 : nil }
        return DesktopEntryCommand(program ?? "parlance", [option]).exec
    }
}
