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
        encryption.set(EncryptionStates.ready)
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
                    await drawSetUp(suffix, width, window), await drawConfirming(suffix, width, window),
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
        encryption.set(EncryptionStates.unconfirmed)
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
        let isDrawn = await drawIdentities(suffix)
        encryption.set(RoomTrust())
        encryption.set(EncryptionStates.unconfirmed)
        guard isDrawn else { return false }
        for (name, problem) in EncryptionStates.problems where Self.roomProblems.contains(name) {
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
        encryption.set(EncryptionStates.ready)
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
            ("set-up", EncryptionStatus(condition: .on, identity: .none)), ("confirm", EncryptionStates.unconfirmed),
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

    /// Draws the open dialog about a member in each state of their identity, then closes it.
    private func drawIdentities(_ suffix: String) async -> Bool {
        guard let dialog = await openDialog(width(of: suffix)) else { return false }
        for (name, identity, status) in EncryptionStates.identities {
            encryption.set(status)
            encryption.set(identity)
            guard await drawChange("identity-\(name)-\(suffix)") else { return false }
        }
        dialog.close()
        await gallery.waitUntilIdle()
        return true
    }

    /// Draws each page of a verification, in one dialog.
    private func drawVerifications(_ suffix: String, _ width: Int) async -> Bool {
        encryption.set(EncryptionStates.ready)
        var verification = Verification(
            id: UUID().uuidString, user: FixtureConversation.ida.id, deviceName: "Phone", isOwn: false,
            isIncoming: true, phase: .requested)
        encryption.set([verification])
        guard await openDialog(width) != nil else { return false }
        // Apart from the request, the pages about a person differ from those about a device by their words alone: the
        // light pictures show the former, the dark ones the latter.
        let isDark = suffix.hasSuffix("dark")
        for (name, phase) in EncryptionStates.phases {
            verification.phase = phase
            let kinds = phase == .requested ? [false, true] : [isDark]
            for isOwn in kinds {
                verification.isOwn = isOwn
                encryption.set([verification])
                let picture = isOwn ? "verification-\(name)-own-\(suffix)" : "verification-\(name)-\(suffix)"
                guard await drawChange(picture) else { return false }
            }
            guard case .comparing = phase else { continue }
            guard press("Compare Numbers Instead"), await drawChange("verification-numbers-\(suffix)") else {
                return false
            }
        }
        verification.phase = .waiting
        verification.isUnsent = true
        encryption.set([verification])
        guard await drawChange("verification-unsent-\(suffix)") else { return false }
        encryption.set([Verification]())
        await gallery.waitUntilIdle()
        return true
    }

    private func drawSetUp(_ suffix: String, _ width: Int, _ window: MainWindow) async -> Bool {
        window.showSidebar()
        encryption.askForPassword(true)
        encryption.set(EncryptionStatus(condition: .on, identity: .none))
        await gallery.waitUntilIdle()
        guard press("Set Up…", in: window.window), await drawDialog("set-up-\(suffix)", width, closes: false),
            press("Set Up"), await drawDialog("set-up-password-\(suffix)", width, closes: false),
            await enter("wrong"), press("Continue"), await drawDialog("set-up-wrong-password-\(suffix)", width)
        else { return false }
        encryption.askForPassword(false)
        guard press("Set Up…", in: window.window), await waitForDialog(), press("Set Up") else { return false }
        return await drawDialog("set-up-key-\(suffix)", width)
    }

    /// Draws the ways to confirm this device.
    private func drawConfirming(_ suffix: String, _ width: Int, _ window: MainWindow) async -> Bool {
        window.showSidebar()
        encryption.set(EncryptionStates.unconfirmed)
        await gallery.waitUntilIdle()
        guard press("Confirm…", in: window.window), await drawDialog("confirm-\(suffix)", width, closes: false),
            activateRow("Use Recovery Key or Passphrase"), await waitForDialog(), await enter("EsTc LW2K"),
            press("Confirm"), await drawDialog("confirm-recovery-\(suffix)", width, closes: false),
            await enter(FixtureEncryption.key.text), press("Confirm"),
            await drawDialog("confirm-done-\(suffix)", width)
        else { return false }
        guard press("Confirm…", in: window.window), await waitForDialog(), activateRow("Use Another Device"),
            await drawDialog("confirm-waiting-\(suffix)", width)
        else { return false }
        guard press("Confirm…", in: window.window), await waitForDialog(), activateRow("Reset…"),
            await drawDialog("confirm-reset-\(suffix)", width)
        else { return false }
        encryption.set(EncryptionStates.replaced)
        await gallery.waitUntilIdle()
        return press("Confirm…", in: window.window) ? await drawDialog("confirm-replaced-\(suffix)", width) : false
    }

    private func drawPreferences(
        _ suffix: String, _ width: Int, _ coordinator: ConversationCoordinator, _ window: MainWindow
    ) async -> Bool {
        encryption.set(EncryptionStates.ready)
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
        for (name, status) in EncryptionStates.preferences {
            encryption.set(status)
            guard await drawChange("preferences-\(name)-\(suffix)") else { return false }
        }
        encryption.set(EncryptionStates.ready)
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

    private func waitForDialog() async -> Bool { await openDialog(nil) != nil }

    /// Waits for a dialog.
    /// - Parameters:
    ///   - width: the dialog's width if it is the narrow one; otherwise the dialog has its own width.
    ///   - parent: the dialog that this one is over, if any.
    private func openDialog(_ width: Int?, over parent: Dialog? = nil) async -> Dialog? {
        // A dialog that is there already needs no second wait.
        if width == Self.narrow, let dialog = Self.dialog(over: parent) { Self.makeNarrow(dialog) }
        await gallery.waitUntilIdle()
        guard let dialog = Self.dialog(over: parent) else { return nil }
        if width == Self.narrow, Self.makeNarrow(dialog) { await gallery.waitUntilIdle() }
        return dialog
    }

    private static func dialog(over parent: Dialog?) -> Dialog? {
        Dialog.all.first(where: { !$0.isSame(as: parent) })
    }

    /// - Returns: whether the dialog had another width.
    @discardableResult
    private static func makeNarrow(_ dialog: Dialog) -> Bool {
        guard let window = dialog.window, window.defaultSize.width != narrow else { return false }
        window.setDefaultSize(width: narrow, height: 640)
        return true
    }

    /// Waits for a dialog as ``openDialog(_:over:)`` does, and draws it.
    private func drawDialog(
        _ name: String, _ width: Int?, over parent: Dialog? = nil, closes: Bool = true
    ) async -> Bool {
        guard let dialog = await openDialog(width, over: parent),
            pictures.saveWindow(dialog.window ?? dialog, name)
        else { return false }
        if closes {
            dialog.close()
            await gallery.waitUntilIdle()
        }
        return true
    }

    /// Draws the open dialog after a change in it, which is complete sooner than the opening of a dialog.
    private func drawChange(_ name: String) async -> Bool {
        try? await Task.sleep(for: .milliseconds(400))
        guard let dialog = Dialog.all.first else { return false }
        return pictures.saveWindow(dialog.window ?? dialog, name)
    }

    /// Types into the text field that the open dialog shows.
    private func enter(_ text: String) async -> Bool {
        guard let dialog = Dialog.all.first,
            let field = Self.first(below: dialog, { $0.isMapped && $0.isInstance(of: adw_entry_row_get_type()) })
        else { return false }
        field.withPointer { gtk_editable_set_text($0, text) }
        await gallery.waitUntilIdle()
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
