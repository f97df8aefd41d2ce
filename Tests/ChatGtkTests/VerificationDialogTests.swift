import CGtk
import ChatCore
import ChatTestSupport
import Foundation
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ChatViewModels
@testable import GtkKit

/// The dialog in which devices and people are compared, by keyboard and pointer.
final class VerificationDialogTests: GtkTestCase {
    private static let emoji = [0, 5, 63, 17, 29, 42, 8].compactMap { VerificationEmoji(index: $0) }

    @MainActor
    private static func verification(_ phase: Verification.Phase, id: String = "v") -> Verification {
        Verification(
            id: id, user: MemberID("@bo:example.org"), isOwn: false, isIncoming: true, phase: phase)
    }

    func testVerificationIsAnsweredByKeyboard() throws {
        try onMain {
            let service = FakeEncryptionService()
            try EncryptionWindow.with(service) { accounts, window in
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
                let digits = try XCTUnwrap(dialog.descendants.first { $0.hasStyle("numeric") })
                XCTAssertTrue(MainLoop.pump { digits.parent?.hasFocus == true })
                try RealInput.press("alt+m")
                XCTAssertTrue(MainLoop.pump { service.calls.contains("confirmMatch v") })
                service.set([Self.verification(.done)])
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains("Verified") })
                try RealInput.press("Return")
                XCTAssertTrue(MainLoop.pump { !dialog.isMapped })
                // It stays listed: the server may reject its signature later.
                XCTAssertEqual(service.calls.last, "confirmMatch v")
            }
        }
    }

    func testVerificationIsOverTheOpenDialogAndTheNextFollows() throws {
        try onMain {
            let service = FakeEncryptionService()
            try EncryptionWindow.with(service) { accounts, window in
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

    /// A modal window, such as that of an image, blocks the one below with the dialogs that are within it.
    func testVerificationIsOverAModalWindow() throws {
        try onMain {
            let service = FakeEncryptionService()
            try EncryptionWindow.with(service) { accounts, window in
                let image = AdwaitaWindow()
                image.setContent(Label("image"))
                image.setTransient(for: window.window)
                image.isModal = true
                image.present()
                XCTAssertTrue(MainLoop.pump { image.isMapped })
                service.set([Self.verification(.requested)])
                XCTAssertTrue(MainLoop.pump { OpenDialogs.first(titled: "Verify @bo:example.org") != nil })
                let dialog = try XCTUnwrap(OpenDialogs.first(titled: "Verify @bo:example.org"))
                XCTAssertTrue(dialog.isOver(image))
                XCTAssertTrue(dialog.isOver(window.window))
                service.set([] as [Verification])
                XCTAssertTrue(MainLoop.pump { !dialog.isMapped })
                XCTAssertTrue(image.isMapped)
                image.destroy()
            }
        }
    }

    /// Before libadwaita 1.5, dialogs are windows, which GTK leaves without parent when that is destroyed.
    func testVerificationStaysOverTheWindowWhileDialogsBelowItClose() throws {
        try onMain {
            let service = FakeEncryptionService()
            try EncryptionWindow.with(service) { accounts, window in
                let first = Dialog(title: "First", width: 300, height: 200)
                let second = Dialog(title: "Second", width: 300, height: 200)
                first.setContent(Label("first"))
                second.setContent(Label("second"))
                first.present(over: window.window)
                XCTAssertTrue(MainLoop.pump { first.isMapped })
                second.present(over: first)
                XCTAssertTrue(MainLoop.pump { second.isMapped })
                let viewModel = VerificationViewModel(Self.verification(.requested), name: "Bo", service: service)
                let dialog = VerificationDialog.present(viewModel, over: second).widget
                XCTAssertTrue(MainLoop.pump { dialog.isMapped })
                for below in [second, first] {
                    XCTAssertTrue(dialog.isOver(window.window))
                    below.close()
                    XCTAssertTrue(MainLoop.pump { !below.isMapped })
                }
                XCTAssertTrue(dialog.isMapped)
                XCTAssertTrue(dialog.isOver(window.window))
                XCTAssertFalse(viewModel.state.isOver)
                dialog.close()
                XCTAssertTrue(MainLoop.pump { !dialog.isMapped })
            }
        }
    }

    /// Two accounts that verify each other: one dialog at a time, of which none answers when the other replaces it.
    func testVerificationIsSetAsideForAnotherAccountAndComesBack() throws {
        try onMain {
            let (service, other) = (FakeEncryptionService(), FakeEncryptionService())
            try EncryptionWindow.with(service) { accounts, window in
                let encryption = EncryptionCoordinator(other) { $0.rawValue }
                accounts.verifications.follow(encryption, of: "@bo:example.org")
                @MainActor func isShown(_ title: String) -> Bool {
                    MainLoop.pump { OpenDialogs.all.count == 1 && OpenDialogs.all.first?.title == title }
                }
                service.set([
                    Verification(
                        id: "v", user: MemberID("@bo:example.org"), isOwn: false, isIncoming: false, phase: .waiting)
                ])
                XCTAssertTrue(isShown("Verify @bo:example.org"))
                // The account of this window has no user ID.
                let account = AccountsCoordinator.localID
                other.set([
                    Verification(id: "v", user: MemberID(account), isOwn: false, isIncoming: true, phase: .requested)
                ])
                XCTAssertTrue(isShown("Verify \(account)"))
                other.set([] as [Verification])
                XCTAssertTrue(isShown("Verify @bo:example.org"))
                XCTAssertEqual(service.calls, [])
                XCTAssertEqual(other.calls, [])
            }
        }
    }

    func testTheOtherSideIsShownByItsID() throws {
        try onMain {
            try Resource.load()
            let parent = TestWindow(Label("behind"), width: 360, height: 640)
            do {
                var verification = Self.verification(.requested)
                let viewModel = VerificationViewModel(verification, name: "Bo", service: FakeEncryptionService())
                let dialog = VerificationDialog.present(viewModel, over: parent.window)
                XCTAssertTrue(MainLoop.pump { dialog.widget.visibleTexts.contains("@bo:example.org") })
                XCTAssertTrue(MainLoop.pump { dialog.announced.hasPrefix("Bo Wants to Verify You\n@bo:example.org\n") })
                verification.isOwn = true
                viewModel.show(verification)
                XCTAssertTrue(MainLoop.pump { !dialog.widget.visibleTexts.contains("@bo:example.org") })
                verification.device = "ABCDEFGH"
                viewModel.show(verification)
                XCTAssertTrue(MainLoop.pump { dialog.widget.visibleTexts.contains("Device ID: ABCDEFGH") })
                dialog.widget.close()
                XCTAssertTrue(MainLoop.pump { !dialog.widget.isMapped })
            }
            parent.close()
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
                XCTAssertTrue(EncryptionWindow.hasStatusRegion(dialog.widget))
                let pages: [(Verification.Phase, String)] = [
                    (.waiting, "Waiting for an Answer\n"), (.preparing, "Connecting…\n"),
                    (.comparing(emoji: Self.emoji, numbers: [1234, 5678, 9012]), "Compare the Emoji\n"),
                    (.comparing(emoji: [], numbers: [1234, 5678, 9012]), "Compare the Numbers\n"),
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
}
