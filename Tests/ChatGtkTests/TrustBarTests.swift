import CGtk
import ChatCore
import ChatTestSupport
import Foundation
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ChatViewModels
@testable import GtkKit

/// The warnings of a room, and the dialog about a person to which they lead.
final class TrustBarTests: GtkTestCase {
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
            let bar = TrustBar(isInOwnWindow: false)
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
            let confirm = try XCTUnwrap(window.window.button("Confirm…"))
            XCTAssertEqual(gtk_button_get_label(confirm.cast()).map { String(cString: $0) }, "Confirm…", "no mnemonic")
            confirm.activate()
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

    /// The account may need nothing when the key of its backup is missing.
    func testHelpForAnUnreadableMessageComesAndGoesWithTheKeyOfTheBackup() throws {
        try onMain {
            let fixture = try ConversationBench.makeRoom(3, unread: 0)
            let service = FakeEncryptionService()
            let coordinator = ConversationCoordinator(
                ConversationEnvironment(service: fixture.backend, encryption: service))
            coordinator.start(opening: ConversationBench.room)
            XCTAssertTrue(
                MainLoop.pump {
                    coordinator.conversation?.timeline.state.isLoaded == true
                        && coordinator.conversation?.composer.state.isReady == true
                })
            let conversation = try XCTUnwrap(coordinator.conversation)
            let view = ConversationBench.Requests().makeView(of: conversation)
            let window = TestWindow(view.widget, width: 700, height: 600)
            var message = try XCTUnwrap(conversation.timeline.rows.compactMap { $0.message }.first).message
            message.content = Message.Content(sealed: .noKey)
            conversation.timeline.apply(.changed([message]))
            XCTAssertTrue(
                MainLoop.pump { conversation.timeline.rows.contains { $0.message?.isSealed == true } })
            XCTAssertNil(view.widget.button("Restore Keys…"))
            service.set(EncryptionStatus(condition: .on, identity: .confirmed, recovery: .ready, lacksBackupKey: true))
            XCTAssertTrue(MainLoop.pump { view.widget.button("Restore Keys…") != nil })
            XCTAssertNil(coordinator.encryption?.need)
            service.set(EncryptionStatus(condition: .on, identity: .confirmed, recovery: .ready))
            XCTAssertTrue(MainLoop.pump { view.widget.button("Restore Keys…") == nil })
            window.close()
            withExtendedLifetime((view, coordinator)) {}
            try finish { await coordinator.flushDrafts() }
            try fixture.close()
        }
    }

    /// The mark of a message says only in short what it means.
    func testMenuOfAMarkedMessageExplainsTheMark() throws {
        try onMain {
            let bench = try ConversationBench(29)
            let (menu, texts) = (bench.timeline.menu, MessageText.localized)
            var message = try XCTUnwrap(bench.model.rows.compactMap { $0.message }.last).message
            for trust in MessageTrust.allCases {
                message.trust = trust
                bench.model.apply(.changed([message]))
                XCTAssertTrue(bench.wait { bench.row(28)?.item?.visibleTrust == trust }, "\(trust)")
                bench.timeline.grabFocus()
                try bench.press("Menu")
                XCTAssertTrue(bench.wait { menu.isOpen }, "\(trust)")
                let item = bench.view.widget.descendants.first {
                    $0.cssName == "modelbutton" && $0.isMapped && $0.visibleTexts.contains("Encryption…")
                }
                try RealInput.point(at: try XCTUnwrap(item, "\(trust)"))
                try RealInput.click()
                XCTAssertTrue(bench.wait { OpenDialogs.alert != nil }, "\(trust)")
                let dialog = try XCTUnwrap(OpenDialogs.alert)
                for text in [texts.trust(trust), texts.explanation(trust)] {
                    XCTAssertTrue(bench.wait { dialog.visibleTexts.contains(text) }, text)
                }
                try RealInput.activate(dialog)
                try RealInput.press("Escape")
                XCTAssertTrue(bench.wait { OpenDialogs.all.isEmpty }, "\(trust)")
            }
            message.trust = nil
            bench.model.apply(.changed([message]))
            XCTAssertTrue(bench.wait { bench.row(28)?.item?.visibleTrust == nil })
            bench.timeline.grabFocus()
            try bench.press("Menu")
            XCTAssertTrue(bench.wait { menu.isOpen })
            XCTAssertFalse(bench.view.widget.isEnabled("message.trust"), "nothing to explain")
            try bench.press("Escape")
            XCTAssertTrue(bench.wait { !menu.isOpen })
            try bench.close()
        }
    }

    func testIdentityIsAcceptedAfterAQuestionAndVerified() throws {
        try onMain {
            try Resource.load()
            let service = FakeEncryptionService()
            let bo = MemberID("@bo:example.org")
            service.set(EncryptionStatus(condition: .on, identity: .confirmed))
            service.set(.changedAfterVerification(to: IdentityKey("new")), of: bo)
            let parent = TestWindow(Label("behind"), width: 360, height: 640)
            do {
                let encryption = EncryptionCoordinator(service) { _ in "Bo" }
                let opened = IdentityDialog.present(encryption.identity(of: bo), over: parent.window)
                let dialog = opened.widget
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains("Identity Changed") })
                XCTAssertTrue(MainLoop.pump { opened.announced.hasPrefix("Identity Changed\nYou verified Bo") })
                XCTAssertTrue(EncryptionWindow.hasStatusRegion(dialog))
                XCTAssertTrue(MainLoop.pump { dialog.button("Verify…") != nil })
                try RealInput.activate(dialog)
                try RealInput.press("alt+a")
                XCTAssertTrue(MainLoop.pump { OpenDialogs.alert != nil })
                XCTAssertEqual(service.calls, [])
                try RealInput.activate(try XCTUnwrap(OpenDialogs.alert))
                try RealInput.press("alt+a")
                XCTAssertTrue(MainLoop.pump { OpenDialogs.alert == nil })
                XCTAssertTrue(MainLoop.pump { service.calls == ["acceptIdentity @bo:example.org new"] })
                service.set(.unverified, of: bo)
                XCTAssertTrue(MainLoop.pump { dialog.button("Accept New Identity…") == nil })
                XCTAssertTrue(MainLoop.pump { opened.announced.hasPrefix("Not Verified\n") })
                try RealInput.activate(dialog)
                try RealInput.press("alt+v")
                XCTAssertTrue(MainLoop.pump { service.calls.last == "verify @bo:example.org" })
                dialog.close()
                XCTAssertTrue(MainLoop.pump { !dialog.isMapped })
            }
            parent.close()
        }
    }

    func testVerificationIsWithdrawnByAClick() throws {
        try onMain {
            try Resource.load()
            let service = FakeEncryptionService()
            let bo = MemberID("@bo:example.org")
            service.set(EncryptionStatus(condition: .on, identity: .confirmed))
            service.set(.verified, of: bo)
            let parent = TestWindow(Label("behind"), width: 360, height: 640)
            do {
                let encryption = EncryptionCoordinator(service) { _ in "Bo" }
                let dialog = IdentityDialog.present(encryption.identity(of: bo), over: parent.window).widget
                XCTAssertTrue(MainLoop.pump { dialog.button("Withdraw Verification") != nil })
                XCTAssertTrue(dialog.visibleTexts.contains("Verified"))
                XCTAssertNil(dialog.button("Verify…"))
                try RealInput.activate(dialog)
                try RealInput.point(at: try XCTUnwrap(dialog.button("Withdraw Verification")))
                try RealInput.click()
                XCTAssertTrue(MainLoop.pump { service.calls == ["withdrawVerification @bo:example.org"] })
                service.set(.unverified, of: bo)
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains("Not Verified") })
                XCTAssertTrue(MainLoop.pump { dialog.button("Verify…") != nil })
                XCTAssertNil(dialog.button("Withdraw Verification"))
                XCTAssertFalse(dialog.visibleTexts.contains("Verified"))
                XCTAssertEqual(service.calls.count, 1)
                dialog.close()
                XCTAssertTrue(MainLoop.pump { !dialog.isMapped })
            }
            parent.close()
        }
    }
}
