import CGtk
import ChatCore
import ChatTestSupport
import Foundation
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ChatViewModels
@testable import GtkKit

/// The encryption dialogs, by keyboard and pointer.
final class EncryptionDialogTests: GtkTestCase {
    /// Registered but not run: a `GtkApplicationWindow` needs an application.
    @MainActor
    private static let application: Application = {
        let application = Application(id: "io.github.parlance_chat.Parlance.EncryptionTests")
        g_application_set_flags(application.cast(), shim_application_non_unique)
        g_application_register(application.cast(), nil, nil)
        return application
    }()
    private static let emoji = [0, 5, 63, 17, 29, 42, 8].compactMap { VerificationEmoji(index: $0) }

    @MainActor
    private static func verification(_ phase: Verification.Phase, id: String = "v") -> Verification {
        Verification(
            id: id, user: MemberID("@bo:example.org"), isOwn: false, isIncoming: true, phase: phase)
    }

    /// Opens the main window of an account with encryption.
    @MainActor
    private static func withWindow(
        _ encryption: FakeEncryptionService, _ body: (AccountsCoordinator, MainWindow) throws -> Void
    ) throws {
        try Resource.load()
        Resource.loadStyle()
        let fixture = try ChatFixture()
        let coordinator = ConversationCoordinator(
            ConversationEnvironment(service: fixture.backend, encryption: encryption))
        let accounts = AccountsCoordinator(local: coordinator)
        let window = MainWindow(application: application, accounts: accounts, settings: nil)
        window.present()
        XCTAssertTrue(MainLoop.pump { window.window.isMapped })
        try body(accounts, window)
        OpenDialogs.closeAll()
        var isClosed = false
        window.onClosed = { isClosed = true }
        window.close()
        XCTAssertTrue(MainLoop.pump { isClosed })
        try fixture.close()
    }

    /// Opens the dialog about this device from the banner.
    @MainActor
    private static func confirmDevice(from window: MainWindow) throws -> Dialog {
        XCTAssertTrue(MainLoop.pump { window.window.button("Confirm…") != nil })
        try XCTUnwrap(window.window.button("Confirm…")).activate()
        XCTAssertTrue(MainLoop.pump { OpenDialogs.first(titled: "Confirm This Device") != nil })
        let dialog = try XCTUnwrap(OpenDialogs.first(titled: "Confirm This Device"))
        try RealInput.activate(dialog)
        return dialog
    }

    func testVerificationIsAnsweredByKeyboard() throws {
        try onMain {
            let service = FakeEncryptionService()
            try Self.withWindow(service) { accounts, window in
                service.set([Self.verification(.requested)])
                XCTAssertTrue(MainLoop.pump { OpenDialogs.first(titled: "Verify @bo:example.org") != nil })
                let dialog = try XCTUnwrap(OpenDialogs.first(titled: "Verify @bo:example.org"))
                try RealInput.activate(dialog)
                // A dialog that opens by itself must not react to a Return meant for the window.
                try RealInput.press("Return")
                XCTAssertEqual(service.calls, [])
                try XCTUnwrap(dialog.button("Accept")).grabFocus()
                try RealInput.press("Return")
                XCTAssertTrue(MainLoop.pump { service.calls == ["accept v"] })
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains("Connecting…") })
                service.set([Self.verification(.comparing(emoji: Self.emoji, numbers: [1234, 5678, 9012]))])
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains("Cactus") })
                XCTAssertTrue(dialog.visibleTexts.contains("🐶"))
                let list = try XCTUnwrap(dialog.descendants.first { $0.hasStyle("verification-emoji") })
                XCTAssertTrue(MainLoop.pump { list.parent?.hasFocus == true })
                try RealInput.press("Tab")
                XCTAssertTrue(MainLoop.pump { dialog.button("They Match")?.hasFocus == true })
                try RealInput.press("alt+n")
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains("1234   5678   9012") })
                XCTAssertFalse(list.isMapped)
                try RealInput.press("alt+m")
                XCTAssertTrue(MainLoop.pump { service.calls.contains("confirmMatch v") })
                service.set([Self.verification(.done)])
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains("Verified") })
                try RealInput.press("Return")
                XCTAssertTrue(MainLoop.pump { service.calls.last == "dismiss v" && !dialog.isMapped })
            }
        }
    }

    func testVerificationIsOverTheOpenDialogAndTheNextFollows() throws {
        try onMain {
            let service = FakeEncryptionService()
            try Self.withWindow(service) { accounts, window in
                let open = Dialog(title: "Open", width: 300, height: 200)
                open.setContent(Label("open"))
                open.present(over: window.window)
                XCTAssertTrue(MainLoop.pump { open.isMapped })
                service.set([Self.verification(.requested, id: "1"), Self.verification(.requested, id: "2")])
                XCTAssertTrue(MainLoop.pump { OpenDialogs.all.count == 2 })
                let first = try XCTUnwrap(OpenDialogs.first(titled: "Verify @bo:example.org"))
                try RealInput.activate(first)
                try RealInput.press("Escape")
                XCTAssertTrue(MainLoop.pump { service.calls == ["cancel 1", "dismiss 1"] })
                XCTAssertTrue(MainLoop.pump { !first.isMapped })
                XCTAssertTrue(
                    MainLoop.pump { accounts.verifications.current?.state.verification.id == "2" })
                XCTAssertTrue(MainLoop.pump { OpenDialogs.all.count == 2 })
                XCTAssertTrue(open.isMapped)
            }
        }
    }

    func testEachPageOfAVerificationIsAnnounced() throws {
        try onMain {
            try Resource.load()
            let parent = TestWindow(Label("behind"), width: 360, height: 640)
            do {
                let viewModel = VerificationViewModel(
                    Self.verification(.requested), name: "Bo", service: FakeEncryptionService())
                let dialog = VerificationDialog.present(viewModel, over: parent.window)
                XCTAssertTrue(MainLoop.pump { dialog.announced.hasPrefix("Bo Wants to Verify You\n") })
                XCTAssertTrue(Self.hasStatusRegion(dialog.widget))
                let pages: [(Verification.Phase, String)] = [
                    (.waiting, "Waiting for an Answer\n"), (.preparing, "Connecting…\n"),
                    (.comparing(emoji: Self.emoji, numbers: [1234, 5678, 9012]), "Compare the Emoji\n"),
                    (.confirming, "Waiting for the Other Device\n"), (.canceled(.mismatch), "No Match\n"),
                ]
                for (phase, title) in pages {
                    viewModel.show(Self.verification(phase))
                    XCTAssertTrue(MainLoop.pump { dialog.announced.hasPrefix(title) }, title)
                }
                XCTAssertTrue(dialog.announced.contains("Someone may be listening in"))
                dialog.widget.close()
                XCTAssertTrue(MainLoop.pump { !dialog.widget.isMapped })
            }
            parent.close()
        }
    }

    func testEachPageOfTheSetUpIsAnnounced() throws {
        try onMain {
            try Resource.load()
            let service = FakeEncryptionService()
            service.set(
                EncryptionStatus(
                    condition: .on, identity: .unconfirmed, recovery: .incomplete, otherConfirmedDevices: 1))
            let parent = TestWindow(Label("behind"), width: 360, height: 640)
            do {
                let encryption = EncryptionCoordinator(service) { $0.rawValue }
                XCTAssertTrue(MainLoop.pump { encryption.need == .confirmDevice })
                let viewModel = try XCTUnwrap(encryption.setUp())
                let dialog = EncryptionSetUpDialog.present(viewModel, over: parent.window)
                XCTAssertTrue(MainLoop.pump { dialog.announced.hasPrefix("Confirm This Device\n") })
                XCTAssertTrue(Self.hasStatusRegion(dialog.widget))
                viewModel.send(.useRecoveryKey)
                XCTAssertTrue(MainLoop.pump { dialog.announced.hasPrefix("Recovery Key\n") })
                viewModel.send(.reset)
                XCTAssertTrue(MainLoop.pump { dialog.announced.hasPrefix("Reset Your Identity?\n") })
                XCTAssertTrue(dialog.announced.contains("Your other devices have to be confirmed again."))
                dialog.widget.close()
                XCTAssertTrue(MainLoop.pump { !dialog.widget.isMapped })
            }
            parent.close()
        }
    }

    /// Whether screen readers find the region whose name is the announcement.
    @MainActor
    private static func hasStatusRegion(_ dialog: Dialog) -> Bool {
        dialog.descendants.contains {
            $0.isMapped && gtk_accessible_get_accessible_role($0.cast()) == GTK_ACCESSIBLE_ROLE_STATUS
        }
    }

    @MainActor
    private static func requests(of conversation: Conversation) -> [WindowRequests.Request] {
        conversation.requests.state.pending.map(\.request)
    }

    func testTheBannerOfARoomShowsEachWarningAndItsButtonAnswers() throws {
        try onMain {
            let fixture = try ChatFixture()
            let service = FakeEncryptionService()
            let coordinator = ConversationCoordinator(
                ConversationEnvironment(service: fixture.backend, encryption: service))
            coordinator.start(opening: nil)
            coordinator.rooms.send(.create(name: "Plans"))
            XCTAssertTrue(
                MainLoop.pump {
                    coordinator.rooms.state.selectedRow?.name == "Plans"
                        && coordinator.conversation?.timeline.state.isLoaded == true
                })
            let conversation = try XCTUnwrap(coordinator.conversation)
            let bar = TrustBar()
            let page = Box(.vertical)
            page.append(bar.widget)
            page.append(Label("messages"))
            let window = TestWindow(page)
            bar.show(conversation)
            let row = try XCTUnwrap(bar.widget.descendants.first { $0.hasStyle("banner") })
            // Screen readers report it as it appears.
            XCTAssertEqual(gtk_accessible_get_accessible_role(row.cast()), GTK_ACCESSIBLE_ROLE_ALERT)
            let bo = MemberID("@bo:example.org")
            service.set(RoomTrust(isOwnReplaced: true), of: conversation.roomID)
            XCTAssertTrue(MainLoop.pump { conversation.trust?.state.notice == .ownReplaced })
            try finish { await waitUntilIdle() }
            XCTAssertNil(window.window.button("Confirm…"), "not encrypted")
            conversation.noteEncrypted()
            XCTAssertTrue(MainLoop.pump { window.window.button("Confirm…") != nil })
            XCTAssertTrue(page.visibleTexts.contains { $0.hasPrefix("Messages are not sent: your account") })
            XCTAssertTrue(row.hasStyle("problem"))
            try XCTUnwrap(window.window.button("Confirm…")).activate()
            XCTAssertTrue(MainLoop.pump { Self.requests(of: conversation) == [.setUpEncryption] })
            service.set(RoomTrust(changed: [bo], holding: [bo]), of: conversation.roomID)
            XCTAssertTrue(MainLoop.pump { window.window.button("Review…") != nil })
            XCTAssertTrue(row.hasStyle("problem"))
            XCTAssertTrue(page.visibleTexts.contains { $0.hasPrefix("Messages are not sent: the identity of") })
            try XCTUnwrap(window.window.button("Review…")).activate()
            XCTAssertTrue(MainLoop.pump { Self.requests(of: conversation) == [.setUpEncryption, .showIdentity(bo)] })
            service.set(RoomTrust(changed: [bo]), of: conversation.roomID)
            XCTAssertTrue(
                MainLoop.pump { page.visibleTexts.contains("The identity of @bo:example.org has changed.") })
            XCTAssertTrue(row.hasStyle("problem"))
            service.set(RoomTrust(withoutIdentity: [bo]), of: conversation.roomID)
            XCTAssertTrue(MainLoop.pump { window.window.button("OK") != nil })
            XCTAssertFalse(row.hasStyle("problem"))
            try XCTUnwrap(window.window.button("OK")).activate()
            XCTAssertTrue(MainLoop.pump { !row.isMapped })
            window.close()
            withExtendedLifetime((bar, coordinator)) {}
            try fixture.close()
        }
    }

    func testSetUpIsOfferedOnceAfterSignIn() throws {
        try onMain {
            let service = FakeEncryptionService()
            try Self.withWindow(service) { accounts, window in
                accounts.addedAccount = AccountsCoordinator.localID
                XCTAssertFalse(accounts.offersSetUp)
                service.set(EncryptionStatus(condition: .on, identity: .none))
                XCTAssertTrue(MainLoop.pump { OpenDialogs.first(titled: "Set Up Encryption") != nil })
                XCTAssertFalse(accounts.offersSetUp)
                let dialog = try XCTUnwrap(OpenDialogs.first(titled: "Set Up Encryption"))
                try XCTUnwrap(dialog.button("Later")).activate()
                XCTAssertTrue(MainLoop.pump { !dialog.isMapped })
                // A later change only changes the banner.
                service.set(EncryptionStatus(condition: .on, identity: .unconfirmed))
                XCTAssertTrue(MainLoop.pump { window.window.visibleTexts.contains("This device is not confirmed") })
                XCTAssertTrue(OpenDialogs.all.isEmpty)
                XCTAssertEqual(service.calls, [])
            }
        }
    }

    func testEmojiWrapAtTheNarrowestWidth() throws {
        try onMain {
            try Resource.load()
            Resource.loadStyle()
            let parent = TestWindow(Label("behind"), width: 360, height: 640)
            do {
                let viewModel = VerificationViewModel(
                    Self.verification(.comparing(emoji: Self.emoji, numbers: [1, 2, 3])), name: "Bo",
                    service: FakeEncryptionService())
                let dialog = VerificationDialog.present(viewModel, over: parent.window).widget
                XCTAssertTrue(MainLoop.pump { dialog.isMapped })
                XCTAssertLessThanOrEqual(dialog.measure(.horizontal).minimum, 360)
                dialog.close()
                XCTAssertTrue(MainLoop.pump { !dialog.isMapped })
            }
            parent.close()
        }
    }

    func testIdentityIsMadeFromTheBanner() throws {
        try onMain {
            let service = FakeEncryptionService()
            try Self.withWindow(service) { accounts, window in
                service.fail("createIdentity", with: .passwordRequired)
                service.set(EncryptionStatus(condition: .on, identity: .none))
                XCTAssertTrue(MainLoop.pump { window.window.visibleTexts.contains("Encryption is not set up") })
                try XCTUnwrap(window.window.button("Set Up…")).activate()
                XCTAssertTrue(MainLoop.pump { OpenDialogs.first(titled: "Set Up Encryption") != nil })
                let dialog = try XCTUnwrap(OpenDialogs.first(titled: "Set Up Encryption"))
                try RealInput.activate(dialog)
                try RealInput.press("Return")
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains("Enter Your Password") })
                try RealInput.type("tea and milk")
                try RealInput.press("Return")
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains("Save Your Recovery Key") })
                XCTAssertEqual(service.calls, ["createIdentity", "createIdentity tea and milk"])
                XCTAssertTrue(dialog.visibleTexts.contains(FakeEncryptionService.recoveryKey.text))
                XCTAssertEqual(dialog.button("Done")?.isSensitive, false)
                // The Copy button has the focus.
                try RealInput.press("Return")
                XCTAssertTrue(MainLoop.pump { dialog.button("Copied") != nil })
                try RealInput.press("Tab", "Tab", "space")
                XCTAssertTrue(MainLoop.pump { dialog.button("Done")?.isSensitive == true })
                try RealInput.press("alt+d")
                XCTAssertTrue(MainLoop.pump { service.calls.last == "confirmRecoveryKey" && !dialog.isMapped })
                service.set(EncryptionStatus(condition: .on, identity: .confirmed, recovery: .ready))
                XCTAssertTrue(MainLoop.pump { !window.window.visibleTexts.contains("Encryption is not set up") })
            }
        }
    }

    func testDeviceIsConfirmedByRecoveryKey() throws {
        try onMain {
            let service = FakeEncryptionService()
            try Self.withWindow(service) { accounts, window in
                service.fail("recover", with: .wrongRecoveryKey)
                service.set(
                    EncryptionStatus(
                        condition: .on, identity: .unconfirmed, recovery: .incomplete, otherConfirmedDevices: 1,
                        hasPassphrase: true))
                // Closing a dialog discards its input.
                let closed = try Self.confirmDevice(from: window)
                try RealInput.press("Down", "Return")
                XCTAssertTrue(MainLoop.pump { closed.button("Confirm") != nil })
                try RealInput.type("EsTc")
                try RealInput.press("Escape")
                XCTAssertTrue(MainLoop.pump { !closed.isMapped })
                let dialog = try Self.confirmDevice(from: window)
                try RealInput.press("Down", "Return")
                XCTAssertTrue(MainLoop.pump { dialog.button("Confirm") != nil })
                try RealInput.type("EsTc")
                try RealInput.press("Return")
                XCTAssertTrue(
                    MainLoop.pump { dialog.visibleTexts.contains { $0.contains("does not match your account") } })
                try RealInput.press("Return")
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains("This Device Is Confirmed") })
                XCTAssertEqual(service.calls, ["recover EsTc", "recover EsTc"])
                try RealInput.press("Return")
                XCTAssertTrue(MainLoop.pump { !dialog.isMapped })
            }
        }
    }

    func testResetAsksTwice() throws {
        try onMain {
            let service = FakeEncryptionService()
            try Self.withWindow(service) { accounts, window in
                service.set(EncryptionStatus(condition: .on, identity: .unconfirmed, recovery: .none))
                XCTAssertTrue(MainLoop.pump { window.window.button("Confirm…") != nil })
                try XCTUnwrap(window.window.button("Confirm…")).activate()
                XCTAssertTrue(MainLoop.pump { OpenDialogs.first(titled: "Confirm This Device") != nil })
                let dialog = try XCTUnwrap(OpenDialogs.first(titled: "Confirm This Device"))
                try RealInput.activate(dialog)
                XCTAssertFalse(dialog.visibleTexts.contains("Use Another Device"))
                // Chooses the only way offered.
                try RealInput.press("Return")
                XCTAssertTrue(MainLoop.pump { dialog.button("Reset…") != nil })
                try RealInput.press("Return")
                XCTAssertNil(OpenDialogs.alert, "Return does not reset")
                try RealInput.press("alt+r")
                XCTAssertTrue(MainLoop.pump { OpenDialogs.alert != nil })
                XCTAssertEqual(service.calls, [])
                try RealInput.activate(try XCTUnwrap(OpenDialogs.alert))
                try RealInput.press("alt+r")
                XCTAssertTrue(MainLoop.pump { OpenDialogs.alert == nil })
                XCTAssertTrue(MainLoop.pump { service.calls == ["replaceIdentity"] })
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains("Save Your Recovery Key") })
            }
        }
    }

    func testIdentityIsAcceptedAfterAQuestionAndVerified() throws {
        try onMain {
            try Resource.load()
            let service = FakeEncryptionService()
            let bo = MemberID("@bo:example.org")
            service.set(EncryptionStatus(condition: .on, identity: .confirmed))
            service.set(.changedAfterVerification, of: bo)
            let parent = TestWindow(Label("behind"), width: 360, height: 640)
            do {
                let encryption = EncryptionCoordinator(service) { _ in "Bo" }
                let dialog = IdentityDialog.present(encryption.identity(of: bo), over: parent.window).widget
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains("Identity Changed") })
                XCTAssertTrue(MainLoop.pump { dialog.button("Verify…") != nil })
                try RealInput.activate(dialog)
                try RealInput.press("alt+a")
                XCTAssertTrue(MainLoop.pump { OpenDialogs.alert != nil })
                XCTAssertEqual(service.calls, [])
                try RealInput.activate(try XCTUnwrap(OpenDialogs.alert))
                try RealInput.press("alt+a")
                XCTAssertTrue(MainLoop.pump { OpenDialogs.alert == nil })
                XCTAssertTrue(MainLoop.pump { service.calls == ["acceptIdentity @bo:example.org"] })
                service.set(.unverified, of: bo)
                XCTAssertTrue(MainLoop.pump { dialog.button("Accept New Identity…") == nil })
                try RealInput.activate(dialog)
                try RealInput.press("alt+v")
                XCTAssertTrue(MainLoop.pump { service.calls.last == "verify @bo:example.org" })
                dialog.close()
                XCTAssertTrue(MainLoop.pump { !dialog.isMapped })
            }
            parent.close()
        }
    }

    func testPreferencesShowAndChangeTheEncryptionOfAnAccount() throws {
        try onMain {
            try Resource.load()
            Resource.loadStyle()
            let service = FakeEncryptionService()
            service.set(
                EncryptionStatus(
                    condition: .on, identity: .confirmed, recovery: .ready, backup: .on(remaining: 2),
                    fingerprint: "AAAABBBBCCCCDDDD"))
            service.set([
                AccountDevice(id: "THIS", name: "Desk", isThis: true, trust: .confirmed),
                AccountDevice(id: "PHONE", name: "Phone", trust: .unconfirmed),
            ])
            let encryption = EncryptionCoordinator(service) { $0.rawValue }
            let viewModel = encryption.preferences(account: "@ann:example.org", name: "Ann")
            let groups = EncryptionPreferencesGroups(viewModel)
            let page = Box(.vertical, spacing: 12)
            for group in groups.groups { page.append(group) }
            let window = TestWindow(page, width: 360, height: 900)
            XCTAssertTrue(MainLoop.pump { page.visibleTexts.contains("Phone") })
            for text in ["This device is confirmed.", "AAAA BBBB CCCC DDDD", "2 keys are not in the backup yet"] {
                XCTAssertTrue(MainLoop.pump { page.visibleTexts.contains(text) }, text)
            }
            XCTAssertLessThanOrEqual(page.measure(.horizontal).minimum, 360)
            let signOut = try XCTUnwrap(page.descendants.first { $0.tooltip == "Sign Out “Phone”" })
            XCTAssertEqual(
                gtk_button_get_icon_name(signOut.cast()).map { String(cString: $0) }, "system-log-out-symbolic")
            // If the user cancels the confirmation, the switch returns to on.
            let toggle = try XCTUnwrap(page.descendants.first { $0.isInstance(of: gtk_switch_get_type()) })
            try RealInput.activate(window.window)
            toggle.grabFocus()
            try RealInput.press("space")
            XCTAssertTrue(MainLoop.pump { OpenDialogs.alert != nil })
            try RealInput.activate(try XCTUnwrap(OpenDialogs.alert))
            try RealInput.press("Escape")
            XCTAssertTrue(MainLoop.pump { gtk_switch_get_active(toggle.cast()) != 0 })
            XCTAssertFalse(service.calls.contains { $0.hasPrefix("setBackup") })
            XCTAssertTrue(MainLoop.pump { OpenDialogs.alert == nil })
            // The server requires the password for signing a device out.
            service.fail("signOutDevices", with: .passwordRequired)
            viewModel.send(.signOut(device: "PHONE", password: nil))
            XCTAssertTrue(MainLoop.pump { OpenDialogs.alert != nil })
            try RealInput.activate(try XCTUnwrap(OpenDialogs.alert))
            try RealInput.type("tea")
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { service.calls.contains("signOutDevices PHONE tea") })
            XCTAssertTrue(MainLoop.pump { !page.visibleTexts.contains("Phone") })
            window.close()
        }
    }

    func testKeyFileIsExportedWithAPassphraseThatWasTypedTwice() throws {
        try onMain {
            try Resource.load()
            let parent = TestWindow(Label("behind"), width: 500, height: 500)
            var secrets: [AccountCredential] = []
            var cancellations = 0
            PasswordPrompt.presentPassword(over: parent.window, cancelled: { cancellations += 1 }) {
                secrets.append($0)
            }
            XCTAssertTrue(MainLoop.pump { OpenDialogs.alert != nil })
            try RealInput.activate(try XCTUnwrap(OpenDialogs.alert))
            try RealInput.type("tea")
            try RealInput.press("Escape")
            XCTAssertTrue(MainLoop.pump { cancellations == 1 && OpenDialogs.alert == nil })
            XCTAssertEqual(secrets, [])
            PasswordPrompt.presentNewPassphrase(over: parent.window) { secrets.append($0) }
            XCTAssertTrue(MainLoop.pump { OpenDialogs.alert != nil })
            try RealInput.activate(try XCTUnwrap(OpenDialogs.alert))
            try RealInput.type("tea")
            try RealInput.press("Return")
            try RealInput.type("te")
            try RealInput.press("Return")
            XCTAssertEqual(secrets, [])
            try RealInput.type("a")
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { secrets == [AccountCredential("tea")] && OpenDialogs.alert == nil })
            parent.close()
        }
    }
}
