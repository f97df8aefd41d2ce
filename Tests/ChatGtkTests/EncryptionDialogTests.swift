import CGtk
import ChatCore
import ChatTestSupport
import Foundation
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ChatViewModels
@testable import GtkKit

/// The dialogs in which encryption is set up and changed, by keyboard and pointer.
final class EncryptionDialogTests: GtkTestCase {
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
                XCTAssertTrue(EncryptionWindow.hasStatusRegion(dialog.widget))
                viewModel.send(.useRecoveryKey)
                XCTAssertTrue(MainLoop.pump { dialog.announced.hasPrefix("Recovery Key\n") })
                viewModel.send(.reset)
                XCTAssertTrue(MainLoop.pump { dialog.announced.hasPrefix("Reset Your Identity?\n") })
                let losses = EncryptionText(.untranslated).losses
                XCTAssertEqual(losses.count, 5)
                for loss in losses {
                    XCTAssertTrue(dialog.announced.contains(loss), loss)
                    XCTAssertTrue(MainLoop.pump { dialog.widget.visibleTexts.contains(loss) }, loss)
                }
                // The page scrolls where it has no room.
                XCTAssertLessThanOrEqual(dialog.widget.measure(.horizontal).minimum, 360)
                let isScrolled = gtk_scrolled_window_get_type()
                let view = try XCTUnwrap(dialog.widget.descendants.first { $0.isInstance(of: isScrolled) })
                XCTAssertLessThan(view.measure(.vertical, for: 360).minimum, 200)
                XCTAssertGreaterThan(view.measure(.vertical, for: 360).natural, 200)
                dialog.widget.close()
                XCTAssertTrue(MainLoop.pump { !dialog.widget.isMapped })
            }
            parent.close()
        }
    }

    func testSavingTheRecoveryKeyIsShownAndAnnounced() throws {
        try onMain {
            try Resource.load()
            let folder = TemporaryFolder()
            let service = FakeEncryptionService()
            service.set(EncryptionStatus(condition: .on, identity: .none))
            let parent = TestWindow(Label("behind"), width: 360, height: 640)
            do {
                let encryption = EncryptionCoordinator(service) { $0.rawValue }
                XCTAssertTrue(MainLoop.pump { encryption.need == .setUp })
                let viewModel = try XCTUnwrap(encryption.setUp())
                let dialog = EncryptionSetUpDialog.present(viewModel, over: parent.window)
                viewModel.send(.begin)
                XCTAssertTrue(MainLoop.pump { dialog.widget.button("Save to File…") != nil })
                XCTAssertTrue(MainLoop.pump { dialog.announced.hasPrefix("Save Your Recovery Key\n") })
                viewModel.send(.saveKey(folder.path("key.txt")))
                XCTAssertTrue(MainLoop.pump { dialog.widget.button("Saved") != nil })
                XCTAssertTrue(MainLoop.pump { dialog.announced == "The recovery key was saved to the file." })
                viewModel.send(.keyCopied)
                XCTAssertTrue(MainLoop.pump { dialog.announced.hasPrefix("The recovery key was copied.\n") })
                // Another file could not be written.
                viewModel.send(.saveKey(folder.path("none/key.txt")))
                XCTAssertTrue(MainLoop.pump { dialog.widget.button("Save to File…") != nil })
                dialog.widget.close()
                XCTAssertTrue(MainLoop.pump { !dialog.widget.isMapped })
            }
            parent.close()
        }
    }

    /// The longest labels are those of another language, which tests do not have.
    func testLabelsOfCheckBoxesWrapAtTheNarrowestWidth() throws {
        try onMain {
            try Resource.load()
            let service = FakeEncryptionService()
            service.set(EncryptionStatus(condition: .on, identity: .none))
            let parent = TestWindow(Label("behind"), width: 360, height: 640)
            @MainActor func checkBoxWraps(_ label: String, in dialog: Dialog) throws {
                let box = try XCTUnwrap(
                    dialog.descendants.first { $0.isMapped && $0.isInstance(of: gtk_check_button_get_type()) })
                gtk_check_button_set_label(box.cast(), label)
                XCTAssertLessThan(box.measure(.horizontal).minimum, 300, label)
            }
            do {
                let encryption = EncryptionCoordinator(service) { $0.rawValue }
                XCTAssertTrue(MainLoop.pump { encryption.need == .setUp })
                let viewModel = try XCTUnwrap(encryption.setUp())
                let dialog = EncryptionSetUpDialog.present(viewModel, over: parent.window).widget
                viewModel.send(.begin)
                XCTAssertTrue(MainLoop.pump { dialog.button("Save to File…") != nil })
                try checkBoxWraps("Ich habe den Wiederherstellungsschlüssel gespeichert", in: dialog)
                XCTAssertLessThanOrEqual(dialog.measure(.horizontal).minimum, 360)
                dialog.close()
                XCTAssertTrue(MainLoop.pump { !dialog.isMapped })
                let question = ReactionQuestion(message: MessageID("m"), reaction: "👍")
                let alert = ReactionDialog.present(question, over: parent.window) { _ in }
                XCTAssertTrue(MainLoop.pump { alert.isMapped })
                try checkBoxWraps("Reaktionen in verschlüsselten Räumen nicht verwenden", in: alert)
                alert.close()
                XCTAssertTrue(MainLoop.pump { !alert.isMapped })
            }
            parent.close()
        }
    }

    func testSetUpIsOfferedOnceAfterSignIn() throws {
        try onMain {
            let service = FakeEncryptionService()
            try EncryptionWindow.with(service) { accounts, window in
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

    func testIdentityIsMadeFromTheBanner() throws {
        try onMain {
            let service = FakeEncryptionService()
            try EncryptionWindow.with(service) { accounts, window in
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
            try EncryptionWindow.with(service) { accounts, window in
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
            try EncryptionWindow.with(service) { accounts, window in
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
                XCTAssertNil(dialog.root?.focus, "GTK moves the focus of a hidden row")
                XCTAssertEqual(dialog.title, "Reset Encryption")
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
            let preferences = Preferences(service)
            let (viewModel, page, window) = (preferences.viewModel, preferences.page, preferences.window)
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

    func testOutcomeOfAKeyFileMovesFocusToItsRow() throws {
        try onMain {
            try Resource.load()
            let service = FakeEncryptionService()
            service.set(EncryptionStatus(condition: .on, identity: .confirmed, recovery: .ready))
            service.fail("importKeys", with: .wrongPassphrase)
            let preferences = Preferences(service)
            let (viewModel, page, window) = (preferences.viewModel, preferences.page, preferences.window)
            XCTAssertTrue(MainLoop.pump { page.visibleTexts.contains("Import Keys…") })
            try XCTUnwrap(Self.row("Import Keys…", in: page)).grabFocus()
            viewModel.send(
                .importKeys(URL(fileURLWithPath: "/keys.txt"), passphrase: AccountCredential("tea")))
            XCTAssertTrue(MainLoop.pump { Self.row("Incorrect passphrase.", in: page)?.isFocus == true })
            // The focus stays where the user has moved it meanwhile.
            let other = try XCTUnwrap(Self.row("Reset Identity…", in: page))
            other.grabFocus()
            viewModel.send(
                .importKeys(URL(fileURLWithPath: "/keys.txt"), passphrase: AccountCredential("milk")))
            XCTAssertTrue(MainLoop.pump { Self.row("5 keys read, 2 of them new", in: page) != nil })
            XCTAssertTrue(other.isFocus)
            window.close()
        }
    }

    /// An account's encryption as the preferences show it.
    @MainActor
    private final class Preferences {
        let viewModel: EncryptionPreferencesViewModel
        let page = Box(.vertical, spacing: 12)
        let window: TestWindow
        private let groups: EncryptionPreferencesGroups

        init(_ service: FakeEncryptionService, session: AccountSession = AccountSession()) {
            viewModel = EncryptionCoordinator(service, session: session) { $0.rawValue }
                .preferences(account: "@ann:example.org", name: "Ann")
            groups = EncryptionPreferencesGroups(viewModel)
            for group in groups.groups { page.append(group) }
            window = TestWindow(page, width: 360, height: 900)
        }
    }

    @MainActor
    private static func row(_ title: String, in page: Widget) -> Widget? {
        page.descendants.first {
            $0.isInstance(of: adw_action_row_get_type()) && $0.visibleTexts.contains(title)
        }
    }

    func testKeysThatCouldNotBeOpenedAreTriedAgainFromThePreferences() throws {
        try onMain {
            try Resource.load()
            let service = FakeEncryptionService()
            service.set(EncryptionStatus(condition: .off(.storage(reason: "full"))))
            let session = AccountSession()
            var retryCount = 0
            session.retry = { retryCount += 1 }
            let preferences = Preferences(service, session: session)
            let (page, window) = (preferences.page, preferences.window)
            XCTAssertTrue(MainLoop.pump { page.button("Retry") != nil })
            try XCTUnwrap(page.button("Retry")).activate()
            XCTAssertTrue(MainLoop.pump { retryCount == 1 })
            service.set(EncryptionStatus(condition: .on, identity: .confirmed, recovery: .ready))
            XCTAssertTrue(MainLoop.pump { page.button("Retry") == nil })
            window.close()
        }
    }

    func testIdentityIsResetFromThePreferences() throws {
        try onMain {
            try Resource.load()
            let service = FakeEncryptionService()
            service.set(EncryptionStatus(condition: .on, identity: .confirmed, recovery: .ready))
            let preferences = Preferences(service)
            let (page, window) = (preferences.page, preferences.window)
            XCTAssertTrue(MainLoop.pump { page.visibleTexts.contains("Reset Identity…") })
            try RealInput.activate(window.window)
            try XCTUnwrap(Self.row("Reset Identity…", in: page)).grabFocus()
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { OpenDialogs.first(titled: "Reset Encryption") != nil })
            let dialog = try XCTUnwrap(OpenDialogs.first(titled: "Reset Encryption"))
            try RealInput.activate(dialog)
            // This Return must not reset either.
            try RealInput.press("Return")
            XCTAssertNil(OpenDialogs.alert)
            try RealInput.press("alt+r")
            XCTAssertTrue(MainLoop.pump { OpenDialogs.alert != nil })
            XCTAssertFalse(service.calls.contains("replaceIdentity"))
            try RealInput.activate(try XCTUnwrap(OpenDialogs.alert))
            try RealInput.press("alt+r")
            XCTAssertTrue(MainLoop.pump { service.calls.contains("replaceIdentity") })
            dialog.close()
            XCTAssertTrue(MainLoop.pump { !dialog.isMapped })
            // On an unconfirmed device, a reset is a way to confirm it.
            service.set(EncryptionStatus(condition: .on, identity: .unconfirmed, recovery: .ready))
            XCTAssertTrue(MainLoop.pump { !page.visibleTexts.contains("Reset Identity…") })
            window.close()
        }
    }

    func testRecoveryKeyIsCheckedFromThePreferences() throws {
        try onMain {
            try Resource.load()
            let service = FakeEncryptionService()
            service.set(EncryptionStatus(condition: .on, identity: .confirmed, recovery: .ready))
            let preferences = Preferences(service)
            let (page, window) = (preferences.page, preferences.window)
            XCTAssertTrue(MainLoop.pump { page.visibleTexts.contains("Check Recovery Key…") })
            try RealInput.activate(window.window)
            try XCTUnwrap(Self.row("Check Recovery Key…", in: page)).grabFocus()
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { OpenDialogs.first(titled: "Recovery Key") != nil })
            let dialog = try XCTUnwrap(OpenDialogs.first(titled: "Recovery Key"))
            try RealInput.activate(dialog)
            try RealInput.type("EsTc")
            try RealInput.press("alt+h")
            XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains("Recovery Key Accepted") })
            XCTAssertEqual(service.calls.filter { $0.hasPrefix("recover") }, ["recover EsTc"])
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { !dialog.isMapped })
            service.set(EncryptionStatus(condition: .on, identity: .confirmed, recovery: .unsaved))
            XCTAssertTrue(MainLoop.pump { !page.visibleTexts.contains("Check Recovery Key…") })
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
            let problem = "The passphrases do not match."
            let dialog = try XCTUnwrap(OpenDialogs.alert)
            try RealInput.type("te")
            XCTAssertFalse(dialog.visibleTexts.contains(problem))
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains(problem) })
            XCTAssertEqual(secrets, [])
            try RealInput.type("e")
            XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains(problem) })
            try RealInput.press("BackSpace")
            XCTAssertTrue(MainLoop.pump { !dialog.visibleTexts.contains(problem) })
            try RealInput.type("a")
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { secrets == [AccountCredential("tea")] && OpenDialogs.alert == nil })
            parent.close()
        }
    }
}
