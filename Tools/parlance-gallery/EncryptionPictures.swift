import CGtk
import ChatCore
import ChatGtk
import ChatViewModels
import Foundation
import GtkKit
import TimelineGtk

/// Draws the visible parts of encryption: dialogs, banners, marks, and sealed messages.
struct EncryptionPictures {
    let gallery: Gallery
    let pictures: PictureFolder
    private let encryption = FixtureEncryption()
    private let accounts = FixtureAccounts()

    private static let narrow = 360
    private static let widths = [360, 1200]
    private static let ready = EncryptionStatus(
        condition: .on, identity: .confirmed, recovery: .ready, backup: .on(remaining: 12), otherConfirmedDevices: 1,
        isRecoveryProven: true, fingerprint: "R9ZlmDKHqp9mtJxGQ0iYVtDLVSvk4YlGn3HzgzRpGd8")
    private static let unconfirmed = EncryptionStatus(
        condition: .on, identity: .unconfirmed, recovery: .incomplete, otherConfirmedDevices: 1, hasPassphrase: true)
    private static let replaced = EncryptionStatus(
        condition: .on, identity: .replaced, recovery: .incomplete, otherConfirmedDevices: 1)
    private static let problems: [(name: String, problem: EncryptionCondition.Problem)] = [
        ("locked", .locked(.locked)), ("credential", .credentialLost), ("missing", .missing),
        ("damaged", .damaged(reason: "checksum")), ("replaced", .replaced), ("device", .noDevice),
        ("storage", .storage(reason: "full")), ("not-built", .notBuilt),
    ]
    /// Those whose notices in a room differ.
    private static let roomProblems: Set = ["locked", "missing", "replaced", "not-built"]

    /// - Returns: the exit status.
    func draw() async -> Int32 {
        do {
            try FileManager.default.createDirectory(at: pictures.url, withIntermediateDirectories: true)
        } catch {
            return pictures.fail("cannot make \(pictures.url.path)")
        }
        TextRendering.useDesignedShapes()
        encryption.set(Self.ready)
        await gallery.openWindow(of: accounts, encryption: encryption)
        guard let coordinator = gallery.coordinator, let window = gallery.window else {
            return pictures.fail("no window")
        }
        for scheme in ["light", "dark"] {
            Appearance.apply(scheme)
            for width in Self.widths {
                window.window.setDefaultSize(width: width, height: 700)
                await gallery.waitUntilIdle()
                let suffix = "\(width)-\(scheme)"
                guard await drawRoom(suffix, coordinator, window),
                    await drawQuestions(suffix, coordinator, window), await drawAccount(suffix, window),
                    await drawBanners(suffix, window), await drawVerifications(suffix, width),
                    await drawSetUp(suffix, width, window),
                    await drawPreferences(suffix, width, coordinator, window)
                else { return pictures.fail("cannot draw encryption at \(suffix)") }
            }
        }
        await gallery.closeWindow()
        return 0
    }

    // MARK: The main window

    private func drawRoom(_ suffix: String, _ coordinator: ConversationCoordinator, _ window: MainWindow) async -> Bool
    {
        encryption.set(Self.unconfirmed)
        coordinator.rooms.send(.select(FixtureService.sealed))
        await gallery.waitUntilIdle()
        window.showConversation()
        let (ann, ida) = (FixtureConversation.ann.id, FixtureConversation.ida.id)
        let notices: [(String, RoomTrust)] = [
            ("missing", RoomTrust(withoutIdentity: [ann, FixtureConversation.tomas.id])),
            ("changed", RoomTrust(changed: [ida])), ("holding", RoomTrust(changed: [ida], holding: [ida])),
            ("own-replaced", RoomTrust(isOwnReplaced: true)), ("room", RoomTrust()),
        ]
        for (name, trust) in notices {
            encryption.set(trust)
            await gallery.waitUntilIdle()
            guard pictures.saveWindow(window.window, "encrypted-\(name)-\(suffix)") else { return false }
        }
        coordinator.conversation?.timeline.send(.pages(.jump(.message(MessageID("s0")))))
        await gallery.waitUntilIdle()
        for page in 1...3 {
            // Wait for the highlight and the overlay scrollbar to fade out.
            try? await Task.sleep(for: .seconds(2))
            guard pictures.saveWindow(window.window, "encrypted-sealed\(page)-\(suffix)") else { return false }
            TimelineList.below(window.window)?.scrollPage(1)
        }
        encryption.set(RoomTrust(changed: [ida], holding: [ida]))
        await gallery.waitUntilIdle()
        coordinator.conversation?.answerTrustNotice()
        let isDrawn = await drawDialog("identity-\(suffix)", width(of: suffix))
        encryption.set(RoomTrust())
        guard isDrawn else { return false }
        for (name, problem) in Self.problems where Self.roomProblems.contains(name) {
            accounts.set(.off(problem))
            await gallery.waitUntilIdle()
            guard pictures.saveWindow(window.window, "encrypted-off-\(name)-\(suffix)") else { return false }
        }
        accounts.set(.on)
        return true
    }

    /// Draws the questions before something is not encrypted, or always is.
    private func drawQuestions(
        _ suffix: String, _ coordinator: ConversationCoordinator, _ window: MainWindow
    ) async -> Bool {
        encryption.set(Self.ready)
        await gallery.waitUntilIdle()
        guard let conversation = coordinator.conversation else { return false }
        let message = FixtureConversation.readableMessage
        coordinator.forwarder(of: conversation).forward([message], to: FixtureService.team)
        guard await drawDialog("forward-\(suffix)", nil) else { return false }
        conversation.timeline.send(.message(message, .react("👍")))
        guard await drawDialog("react-\(suffix)", nil) else { return false }
        coordinator.rooms.send(.select(FixtureService.team))
        await gallery.waitUntilIdle()
        guard window.window.activateAction("win.room-details"), await waitForDialog(),
            let details = Dialog.all.first, press("Turn On…", in: details),
            await drawDialog("turn-on-\(suffix)", nil, over: details)
        else { return false }
        details.close()
        return true
    }

    /// Draws the account list while encryption is off, and the question before signing out.
    private func drawAccount(_ suffix: String, _ window: MainWindow) async -> Bool {
        window.showSidebar()
        accounts.set(.off(.credentialLost))
        await gallery.waitUntilIdle()
        guard let button = Self.first(below: window.window, { $0.hasStyle("account-button") }) else { return false }
        button.withPointer { gtk_menu_button_popup($0) }
        await gallery.waitUntilIdle()
        guard pictures.saveWindow(window.window, "account-off-\(suffix)") else { return false }
        accounts.set(.on)
        return press("Sign Out…", in: window.window) ? await drawDialog("sign-out-keys-\(suffix)", nil) : false
    }

    private func drawBanners(_ suffix: String, _ window: MainWindow) async -> Bool {
        window.showSidebar()
        let banners: [(String, EncryptionStatus)] = [
            ("set-up", EncryptionStatus(condition: .on, identity: .none)), ("confirm", Self.unconfirmed),
            ("unsaved", EncryptionStatus(condition: .on, identity: .confirmed, recovery: .unsaved)),
        ]
        for (name, status) in banners {
            encryption.set(status)
            await gallery.waitUntilIdle()
            guard pictures.saveWindow(window.window, "banner-\(name)-\(suffix)") else { return false }
        }
        return true
    }

    // MARK: Dialogs

    private func drawVerifications(_ suffix: String, _ width: Int) async -> Bool {
        encryption.set(Self.ready)
        let emoji = [37, 15, 46, 13, 57, 9, 31].compactMap { VerificationEmoji(index: $0) }
        let phases: [(String, Verification.Phase, isOwn: Bool)] = [
            ("request", .requested, false), ("request-own", .requested, true), ("waiting", .waiting, true),
            ("emoji", .comparing(emoji: emoji, numbers: [3871, 1029, 7742]), false), ("confirming", .confirming, false),
            ("done", .done, true), ("mismatch", .canceled(.mismatch), false), ("timeout", .canceled(.timeout), true),
        ]
        for (name, phase, isOwn) in phases {
            var verification = Verification(
                id: UUID().uuidString, user: FixtureConversation.ida.id, deviceName: isOwn ? "Phone" : "",
                isOwn: isOwn, isIncoming: true, phase: .requested)
            encryption.set([verification])
            await gallery.waitUntilIdle()
            verification.phase = phase
            encryption.set([verification])
            guard await drawDialog("verification-\(name)-\(suffix)", width, closes: false) else { return false }
            if name == "emoji" {
                guard press("Compare Numbers Instead"),
                    await drawDialog("verification-numbers-\(suffix)", width, closes: false)
                else { return false }
            }
            encryption.set([Verification]())
            await gallery.waitUntilIdle()
        }
        return true
    }

    private func drawSetUp(_ suffix: String, _ width: Int, _ window: MainWindow) async -> Bool {
        window.showSidebar()
        encryption.askForPassword(true)
        encryption.set(EncryptionStatus(condition: .on, identity: .none))
        await gallery.waitUntilIdle()
        guard press("Set Up…", in: window.window), await drawDialog("set-up-\(suffix)", width, closes: false),
            press("Set Up"), await drawDialog("set-up-password-\(suffix)", width)
        else { return false }
        encryption.askForPassword(false)
        guard press("Set Up…", in: window.window), await waitForDialog(), press("Set Up"),
            await drawDialog("set-up-key-\(suffix)", width)
        else { return false }
        encryption.set(Self.unconfirmed)
        await gallery.waitUntilIdle()
        guard press("Confirm…", in: window.window), await drawDialog("confirm-\(suffix)", width, closes: false),
            activateRow("Use Recovery Key or Passphrase"), await waitForDialog()
        else { return false }
        if let field = Dialog.all.first.flatMap({ Self.first(below: $0) { $0.isInstance(of: gtk_text_get_type()) } }) {
            field.withPointer { gtk_editable_set_text($0, "EsTc LW2K") }
            await gallery.waitUntilIdle()
        }
        guard press("Confirm"), await drawDialog("confirm-recovery-\(suffix)", width) else { return false }
        guard press("Confirm…", in: window.window), await waitForDialog(), activateRow("Reset…"),
            await drawDialog("confirm-reset-\(suffix)", width)
        else { return false }
        encryption.set(Self.replaced)
        await gallery.waitUntilIdle()
        return press("Confirm…", in: window.window) ? await drawDialog("confirm-replaced-\(suffix)", width) : false
    }

    private func drawPreferences(
        _ suffix: String, _ width: Int, _ coordinator: ConversationCoordinator, _ window: MainWindow
    ) async -> Bool {
        encryption.set(Self.ready)
        await gallery.waitUntilIdle()
        guard let settings = Settings(schema: "io.github.parlance_chat.Parlance"),
            let account = coordinator.encryption?.preferences(
                account: FixtureAccounts.account.id, name: FixtureAccounts.account.name)
        else { return false }
        PreferencesDialog.present(settings: settings, encryption: [account], over: window.window, showing: .encryption)
        await gallery.waitUntilIdle()
        guard let dialog = Dialog.all.first else { return false }
        dialog.window?.setDefaultSize(width: width == Self.narrow ? width : 720, height: 1100)
        guard await drawDialog("preferences-encryption-\(suffix)", nil, closes: false),
            await drawStates(suffix), await drawKeyFile(suffix, account, dialog)
        else { return false }
        dialog.close()
        await gallery.waitUntilIdle()
        return true
    }

    /// Draws the open preferences in each state of the account's encryption.
    private func drawStates(_ suffix: String) async -> Bool {
        let backups: [(String, EncryptionStatus.Backup)] = [
            ("off", .off), ("untrusted", .untrusted),
            ("failing", .failing(remaining: 12, reason: "M_LIMIT_EXCEEDED")),
        ]
        var lacking = Self.ready
        lacking.lacksBackupKey = true
        var states: [(String, EncryptionStatus)] = [("identity-replaced", Self.replaced), ("lacks-keys", lacking)]
        for (name, problem) in Self.problems {
            states.append(("off-\(name)", EncryptionStatus(condition: .off(problem))))
        }
        for (name, backup) in backups {
            var status = Self.ready
            status.backup = backup
            states.append(("backup-\(name)", status))
        }
        for (name, status) in states {
            encryption.set(status)
            guard await drawDialog("preferences-\(name)-\(suffix)", nil, closes: false) else { return false }
        }
        encryption.set(Self.ready)
        return true
    }

    /// Draws the question before an export, and what became of one and of imports, in the open preferences.
    private func drawKeyFile(
        _ suffix: String, _ account: EncryptionPreferencesViewModel, _ preferences: Dialog
    ) async -> Bool {
        await gallery.waitUntilIdle()
        guard activateRow("Export Keys…"), await drawDialog("export-keys-\(suffix)", nil, over: preferences) else {
            return false
        }
        let file = pictures.url.appending(path: "keys.txt")
        let steps: [(String, EncryptionPreferencesViewModel.Action)] = [
            ("exported", .exportKeys(file, passphrase: AccountCredential("passphrase"))),
            ("imported", .importKeys(file, passphrase: AccountCredential("passphrase"))),
            ("import-failed", .importKeys(file, passphrase: AccountCredential(""))),
        ]
        for (name, action) in steps {
            account.send(action)
            guard await drawDialog("keys-\(name)-\(suffix)", nil, closes: false) else { return false }
        }
        return true
    }

    // MARK: Helpers

    private func width(of suffix: String) -> Int { suffix.hasPrefix("360") ? 360 : 1200 }

    private func waitForDialog() async -> Bool {
        await gallery.waitUntilIdle()
        return Dialog.all.first != nil
    }

    /// - Parameters:
    ///   - width: the dialog's width if it is the narrow one; otherwise the dialog has its own width.
    ///   - parent: the dialog that this one is over, if any.
    private func drawDialog(
        _ name: String, _ width: Int?, over parent: Dialog? = nil, closes: Bool = true
    ) async -> Bool {
        await gallery.waitUntilIdle()
        guard let dialog = Dialog.all.first(where: { !$0.isSame(as: parent) }) else { return false }
        if width == Self.narrow {
            dialog.window?.setDefaultSize(width: Self.narrow, height: 640)
            await gallery.waitUntilIdle()
        }
        guard pictures.saveWindow(dialog.window ?? dialog, name) else { return false }
        if closes {
            dialog.close()
            await gallery.waitUntilIdle()
        }
        return true
    }

    /// Activates the visible button with a label.
    private func press(_ label: String, in window: Widget? = nil) -> Bool {
        guard let parent = window ?? Dialog.all.first,
            let button = Self.first(
                below: parent,
                { $0.isMapped && $0.isInstance(of: gtk_button_get_type()) && Self.label(of: $0) == label })
        else { return false }
        return button.withPointer { gtk_widget_activate($0) } != 0
    }

    private func activateRow(_ title: String) -> Bool {
        guard let dialog = Dialog.all.first,
            let row = Self.first(
                below: dialog,
                { row in
                    guard row.isMapped, row.isInstance(of: adw_action_row_get_type()) else { return false }
                    return row.withPointer { adw_preferences_row_get_title($0).map { String(cString: $0) } } == title
                })
        else { return false }
        return row.withPointer { gtk_widget_activate($0) } != 0
    }

    private static func label(of button: Widget) -> String? {
        first(below: button) { $0.isInstance(of: gtk_label_get_type()) }.map { label in
            label.withPointer { String(cString: gtk_label_get_text($0)) }
        }
    }

    private static func first(below widget: Widget, _ condition: (Widget) -> Bool) -> Widget? {
        for child in widget.children {
            if condition(child) { return child }
            if let found = first(below: child, condition) { return found }
        }
        return nil
    }
}
