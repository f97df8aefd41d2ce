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
    var schemes = ["light", "dark"]
    var widths = [360, 1200]
    private let encryption = FixtureEncryption()
    private let accounts = FixtureAccounts()
    private var dialogs: DialogPictures { DialogPictures(gallery: gallery, pictures: pictures) }

    /// Those whose notices in a room differ.
    private static let roomProblems: Set = ["locked", "missing", "replaced", "not-built"]
    /// More than the sealed messages fill in the narrow window.
    private static let maxPages = 12

    /// - Returns: the exit status.
    func draw() async -> Int32 {
        guard pictures.prepare() else { return 1 }
        encryption.set(EncryptionStates.ready)
        await gallery.openWindow(of: accounts, encryption: encryption)
        guard let coordinator = gallery.coordinator, let window = gallery.window else {
            return pictures.fail("no window")
        }
        let further = EncryptionDialogPictures(
            dialogs: dialogs, encryption: encryption, accounts: accounts, coordinator: coordinator, window: window)
        for scheme in schemes {
            Appearance.apply(scheme)
            for width in widths {
                window.window.setDefaultSize(width: width, height: 700)
                await gallery.waitUntilDrawn()
                let suffix = "\(width)-\(scheme)"
                guard await drawRoom(suffix, width, coordinator, window),
                    await drawQuestions(suffix, coordinator, window), await drawRoomWindow(suffix, width),
                    await drawAccount(suffix, window), await drawBanners(suffix, window),
                    await drawVerifications(suffix, width), await further.draw(suffix, width)
                else { return pictures.fail("cannot draw encryption at \(suffix)") }
            }
        }
        await gallery.closeWindow()
        return 0
    }

    // MARK: The windows

    private func drawRoom(
        _ suffix: String, _ width: Int, _ coordinator: ConversationCoordinator, _ window: MainWindow
    ) async -> Bool {
        encryption.set(EncryptionStates.unconfirmed)
        await gallery.open(FixtureService.sealed)
        window.showConversation()
        for (name, trust) in EncryptionStates.notices + [(name: "room", trust: RoomTrust())] {
            encryption.set(trust)
            await gallery.waitUntilDrawn()
            guard pictures.saveWindow(window.window, "encrypted-\(name)-\(suffix)") else { return false }
        }
        for trust in MessageTrust.allCases {
            TrustDialog.present(trust, over: window.window)
            guard await dialogs.draw("trust-\(trust)-\(suffix)") else { return false }
        }
        guard await drawSealed(suffix, coordinator, window) else { return false }
        let ida = FixtureConversation.ida.id
        encryption.set(RoomTrust(changed: [ida], holding: [ida]))
        await gallery.waitUntilDrawn()
        coordinator.conversation?.answerTrustNotice(.holding(ida, others: 0))
        let isDrawn = await drawIdentities(suffix, width)
        encryption.set(RoomTrust())
        encryption.set(EncryptionStates.unconfirmed)
        guard isDrawn else { return false }
        for (name, problem) in EncryptionStates.problems where Self.roomProblems.contains(name) {
            accounts.set(.off(problem))
            await gallery.waitUntilDrawn()
            guard pictures.saveWindow(window.window, "encrypted-off-\(name)-\(suffix)") else { return false }
        }
        accounts.set(.on)
        return true
    }

    /// Draws the sealed messages page by page, from the oldest on.
    private func drawSealed(
        _ suffix: String, _ coordinator: ConversationCoordinator, _ window: MainWindow
    ) async -> Bool {
        guard let timeline = coordinator.conversation?.timeline, let list = TimelineList.below(window.window) else {
            return false
        }
        let oldest = MessageID("s0")
        timeline.send(.pages(.jump(.message(oldest))))
        await gallery.wait(for: "the message \(oldest.rawValue)") { timeline.rows.message(oldest) != nil }
        await gallery.waitUntilDrawn()
        await gallery.wait(for: "the end of the highlight of a message") {
            DialogPictures.first(below: list.widget) { $0.isMapped && $0.hasStyle("found") } == nil
        }
        var page = 1
        while true {
            await gallery.waitUntilDrawn()
            guard pictures.saveWindow(window.window, "encrypted-sealed\(page)-\(suffix)") else { return false }
            if list.isAtEnd { return true }
            page += 1
            guard page <= Self.maxPages else { return false }
            list.scrollPage(1)
        }
    }

    /// Draws each notice and banner in the room's own window.
    private func drawRoomWindow(_ suffix: String, _ width: Int) async -> Bool {
        encryption.set(EncryptionStates.ready)
        guard let window = await gallery.openRoomWindow(of: FixtureService.sealed) else { return false }
        window.setDefaultSize(width: width, height: 700)
        var isDrawn = true
        for (name, trust) in EncryptionStates.notices where isDrawn {
            encryption.set(trust)
            await gallery.waitUntilDrawn()
            isDrawn = pictures.saveWindow(window, "room-window-\(name)-\(suffix)")
        }
        encryption.set(RoomTrust())
        for (name, status) in EncryptionStates.banners where isDrawn {
            encryption.set(status)
            await gallery.waitUntilDrawn()
            isDrawn = pictures.saveWindow(window, "room-window-\(name)-\(suffix)")
        }
        encryption.set(EncryptionStates.ready)
        await gallery.closeRoomWindows()
        return isDrawn
    }

    /// Draws the questions before something is not encrypted, or always is.
    private func drawQuestions(
        _ suffix: String, _ coordinator: ConversationCoordinator, _ window: MainWindow
    ) async -> Bool {
        encryption.set(EncryptionStates.ready)
        await gallery.waitUntilDrawn()
        guard let conversation = coordinator.conversation else { return false }
        let message = FixtureConversation.readableMessage
        coordinator.forwarder(of: conversation).forward([message], to: FixtureService.team)
        guard await dialogs.draw("forward-\(suffix)") else { return false }
        conversation.timeline.send(.message(message, .react("👍")))
        guard await dialogs.draw("react-\(suffix)") else { return false }
        await gallery.open(FixtureService.team)
        guard window.window.activateAction("win.room-details"), let details = await dialogs.open(),
            await dialogs.press("_Turn On…", in: details), await dialogs.draw("turn-on-\(suffix)", over: details)
        else { return false }
        details.close()
        return true
    }

    /// Draws the account list while encryption is off or the keyring locked, and the questions before signing out.
    private func drawAccount(_ suffix: String, _ window: MainWindow) async -> Bool {
        window.showSidebar()
        accounts.set(.off(.credentialLost))
        guard let menu = await openAccounts(in: window), pictures.saveWindow(window.window, "account-off-\(suffix)")
        else { return false }
        encryption.set(EncryptionStatus())
        accounts.set(.none)
        accounts.set(.locked(.locked))
        await gallery.waitUntilDrawn()
        guard pictures.saveWindow(window.window, "account-locked-\(suffix)") else { return false }
        menu.withPointer { gtk_menu_button_popdown($0) }
        accounts.set(.on)
        accounts.set(.online)
        encryption.set(EncryptionStates.ready)
        await gallery.waitUntilDrawn()
        for (name, pending) in EncryptionStates.signOuts {
            accounts.set(pending: pending)
            guard await openAccounts(in: window) != nil, await dialogs.press("Sign _Out…", in: window.window),
                await dialogs.draw("sign-out-\(name)-\(suffix)")
            else { return false }
        }
        accounts.set(pending: nil)
        guard await openAccounts(in: window) != nil, await dialogs.press("Sign _Out…", in: window.window) else {
            return false
        }
        let isDrawn = await dialogs.draw("sign-out-counting-\(suffix)")
        accounts.set(pending: PendingCount())
        return isDrawn
    }

    /// - Returns: the menu button.
    private func openAccounts(in window: MainWindow) async -> Widget? {
        await gallery.waitUntilDrawn()
        guard let button = DialogPictures.first(below: window.window, { $0.hasStyle("account-button") }) else {
            return nil
        }
        button.withPointer { gtk_menu_button_popup($0) }
        await gallery.waitUntilDrawn()
        return button
    }

    private func drawBanners(_ suffix: String, _ window: MainWindow) async -> Bool {
        window.showSidebar()
        for (name, status) in EncryptionStates.banners {
            encryption.set(status)
            await gallery.waitUntilDrawn()
            guard pictures.saveWindow(window.window, "banner-\(name)-\(suffix)") else { return false }
        }
        return true
    }

    // MARK: Dialogs

    /// Draws the open dialog about a member in each state of their identity and of the actions on it, then closes it.
    private func drawIdentities(_ suffix: String, _ width: Int) async -> Bool {
        guard let dialog = await dialogs.open(width) else { return false }
        for (name, identity, status) in EncryptionStates.identities {
            encryption.set(status)
            encryption.set(identity)
            guard await dialogs.drawChange("identity-\(name)-\(suffix)") else { return false }
        }
        encryption.set(EncryptionStates.ready)
        encryption.set(UserIdentity.changedAfterVerification(to: IdentityKey("new")))
        await gallery.waitUntilDrawn()
        guard await dialogs.press("_Accept New Identity…", in: dialog),
            await dialogs.draw("identity-accept-\(suffix)", over: dialog)
        else { return false }
        encryption.answer(.late)
        guard await dialogs.press("_Verify…", in: dialog), await dialogs.drawChange("identity-busy-\(suffix)") else {
            return false
        }
        encryption.answer(.failure(.noRoom))
        guard await dialogs.drawChange("identity-failed-\(suffix)") else { return false }
        encryption.answer(.success)
        dialog.close()
        await gallery.waitUntilDrawn()
        return true
    }

    /// Draws each page of a verification, in one dialog.
    private func drawVerifications(_ suffix: String, _ width: Int) async -> Bool {
        encryption.set(EncryptionStates.ready)
        var verification = Verification(
            id: UUID().uuidString, user: FixtureConversation.ida.id, deviceName: "Phone", isOwn: false,
            isIncoming: true, phase: .requested)
        encryption.set([verification])
        guard await dialogs.open(width) != nil else { return false }
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
                guard await dialogs.drawChange(picture) else { return false }
            }
            guard case .comparing = phase else { continue }
            guard await dialogs.press("Compare _Numbers Instead"),
                await dialogs.drawChange("verification-numbers-\(suffix)")
            else { return false }
        }
        verification.phase = .waiting
        verification.isUnsent = true
        encryption.set([verification])
        guard await dialogs.drawChange("verification-unsent-\(suffix)") else { return false }
        verification.phase = .requested
        verification.isUnsent = false
        encryption.set([verification])
        await gallery.waitUntilDrawn()
        encryption.answer(.late)
        guard await dialogs.press("_Accept"), await dialogs.drawChange("verification-busy-\(suffix)") else {
            return false
        }
        encryption.answer(.failure(.unreachable))
        guard await dialogs.drawChange("verification-failed-\(suffix)") else { return false }
        encryption.answer(.success)
        encryption.set([Verification]())
        await gallery.waitUntilDrawn()
        return true
    }
}
