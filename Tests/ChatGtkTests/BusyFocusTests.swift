import CGtk
import ChatCore
import ChatTestSupport
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ChatViewModels
@testable import GtkKit
@testable import MediaGtk

/// The focus in dialogs after an action that has failed: the keyboard goes on where it was.
final class BusyFocusTests: GtkTestCase {
    private static let problem = "Could not connect to the server."
    private static let emoji = [0, 5, 63, 17, 29, 42, 8].compactMap { VerificationEmoji(index: $0) }

    /// Performs an action that the server does not answer, and expects the focus to come back.
    /// - Parameters:
    ///   - call: the service's function.
    ///   - focus: what has the focus and becomes insensitive.
    @MainActor
    private static func expectFocus(
        of focus: Widget, toOutlast call: String, of service: FakeEncryptionService, in dialog: Dialog,
        _ act: () -> Void
    ) {
        let gate = Gate()
        service.hold(call, at: gate)
        service.fail(call, with: .unreachable)
        XCTAssertTrue(focus.isFocus, call)
        act()
        XCTAssertTrue(MainLoop.pump { gate.waiting == 1 && gtk_widget_is_sensitive(focus.cast()) == 0 }, call)
        XCTAssertTrue(focus.isMapped, call)
        XCTAssertFalse(dialog.visibleTexts.contains(problem), call)
        gate.open()
        XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains(problem) }, call)
        XCTAssertTrue(focus.isFocus, call)
    }

    func testButtonsAndMethodsOfTheSetUpHaveTheFocusAgain() throws {
        try onMain {
            try Resource.load()
            let states: [(EncryptionStatus, String, EncryptionSetUpViewModel.Action)] = [
                (EncryptionStatus(condition: .on, identity: .none), "createIdentity", .begin),
                (
                    EncryptionStatus(
                        condition: .on, identity: .unconfirmed, recovery: .ready, otherConfirmedDevices: 1),
                    "verifyDevice", .useOtherDevice
                ),
            ]
            for (status, call, action) in states {
                let service = FakeEncryptionService()
                service.set(status)
                let parent = TestWindow(Label("behind"), width: 360, height: 640)
                do {
                    let encryption = EncryptionCoordinator(service) { $0.rawValue }
                    XCTAssertTrue(MainLoop.pump { encryption.need != nil })
                    let viewModel = try XCTUnwrap(encryption.setUp())
                    let dialog = EncryptionSetUpDialog.present(viewModel, over: parent.window).widget
                    XCTAssertTrue(MainLoop.pump { dialog.root?.focus?.isMapped == true })
                    let focus = try XCTUnwrap(dialog.root?.focus)
                    Self.expectFocus(of: focus, toOutlast: call, of: service, in: dialog) { viewModel.send(action) }
                    dialog.close()
                    XCTAssertTrue(MainLoop.pump { !dialog.isMapped })
                }
                parent.close()
            }
        }
    }

    func testAnswersToAVerificationHaveTheFocusAgain() throws {
        try onMain {
            try Resource.load()
            let comparing = Verification.Phase.comparing(emoji: Self.emoji, numbers: [1234, 5678, 9012])
            let answers: [(Verification.Phase, String, String, VerificationViewModel.Action)] = [
                (.requested, "Accept", "accept", .accept),
                (comparing, "They Match", "confirmMatch", .confirmMatch),
                (comparing, "They Don’t Match", "reportMismatch", .reportMismatch),
            ]
            for (phase, label, call, action) in answers {
                let service = FakeEncryptionService()
                let parent = TestWindow(Label("behind"), width: 360, height: 640)
                do {
                    let verification = Verification(
                        id: "v", user: MemberID("@bo:example.org"), isOwn: false, isIncoming: true, phase: phase)
                    let viewModel = VerificationViewModel(verification, name: "Bo", service: service)
                    let dialog = VerificationDialog.present(viewModel, over: parent.window).widget
                    XCTAssertTrue(MainLoop.pump { dialog.button(label) != nil }, label)
                    let button = try XCTUnwrap(dialog.button(label))
                    button.grabFocus()
                    Self.expectFocus(of: button, toOutlast: call, of: service, in: dialog) { viewModel.send(action) }
                    dialog.close()
                    XCTAssertTrue(MainLoop.pump { !dialog.isMapped })
                }
                parent.close()
            }
        }
    }

    func testActionsOnAnIdentityStayAndHaveTheFocusAgain() throws {
        try onMain {
            try Resource.load()
            let (bo, key) = (MemberID("@bo:example.org"), IdentityKey("new"))
            let actions: [(UserIdentity, String, String, IdentityViewModel.Action)] = [
                (.unverified, "Verify…", "verify", .verify),
                (.changed(to: key), "Accept New Identity…", "acceptIdentity", .accept(key)),
                (.verified, "Withdraw Verification", "withdrawVerification", .withdraw),
            ]
            for (identity, label, call, action) in actions {
                let service = FakeEncryptionService()
                service.set(EncryptionStatus(condition: .on, identity: .confirmed))
                service.set(identity, of: bo)
                let parent = TestWindow(Label("behind"), width: 360, height: 640)
                do {
                    let encryption = EncryptionCoordinator(service) { _ in "Bo" }
                    let viewModel = encryption.identity(of: bo)
                    let dialog = IdentityDialog.present(viewModel, over: parent.window).widget
                    XCTAssertTrue(
                        MainLoop.pump {
                            dialog.button(label) != nil && (identity == .verified || dialog.button("Verify…") != nil)
                        }, label)
                    let button = try XCTUnwrap(dialog.button(label))
                    button.grabFocus()
                    Self.expectFocus(of: button, toOutlast: call, of: service, in: dialog) { viewModel.send(action) }
                    dialog.close()
                    XCTAssertTrue(MainLoop.pump { !dialog.isMapped })
                }
                parent.close()
            }
        }
    }

    /// An identity that has been accepted cannot be accepted again.
    func testFocusGoesOnFromAnActionThatIsGone() throws {
        try onMain {
            try Resource.load()
            let (service, gate) = (FakeEncryptionService(), Gate())
            let (bo, key) = (MemberID("@bo:example.org"), IdentityKey("new"))
            service.set(EncryptionStatus(condition: .on, identity: .confirmed))
            service.set(.changed(to: key), of: bo)
            service.hold("acceptIdentity", at: gate)
            let parent = TestWindow(Label("behind"), width: 360, height: 640)
            do {
                let encryption = EncryptionCoordinator(service) { _ in "Bo" }
                let viewModel = encryption.identity(of: bo)
                let dialog = IdentityDialog.present(viewModel, over: parent.window).widget
                XCTAssertTrue(MainLoop.pump { dialog.button("Verify…") != nil })
                let accept = try XCTUnwrap(dialog.button("Accept New Identity…"))
                accept.grabFocus()
                viewModel.send(.accept(key))
                XCTAssertTrue(MainLoop.pump { !accept.isSensitive })
                service.set(.unverified, of: bo)
                XCTAssertTrue(MainLoop.pump { !accept.isMapped })
                gate.open()
                XCTAssertTrue(MainLoop.pump { dialog.button("Verify…")?.isFocus == true })
                dialog.close()
                XCTAssertTrue(MainLoop.pump { !dialog.isMapped })
            }
            parent.close()
        }
    }

    /// What is typed, or who is chosen, while the server creates the room would be lost.
    func testFieldsOfANewRoomAreInsensitiveMeanwhile() throws {
        try onMain {
            try Resource.load()
            // The field for users, and the room's name.
            for isSearching in [true, false] {
                let gate = Gate()
                let service = FakeUserDirectory { call in
                    guard case .create = call else { return [] }
                    await gate.pass()
                    throw ChatError.unreachable
                }
                let viewModel = NewRoomViewModel(service: service, ownUserID: MemberID("@me:example.org"))
                let parent = TestWindow(Label("behind"), width: 360, height: 640)
                do {
                    let dialog = NewSharedRoomDialog.present(
                        viewModel, over: parent.window, avatarLoader: AvatarLoader(service: FakeMediaService()))
                    XCTAssertTrue(MainLoop.pump { dialog.root?.focus?.isMapped == true })
                    if isSearching {
                        let field = try XCTUnwrap(
                            dialog.descendants.first { $0.isInstance(of: gtk_search_entry_get_type()) })
                        XCTAssertTrue(field.grabFocus())
                    }
                    let focus = try XCTUnwrap(dialog.root?.focus)
                    let inputs = dialog.descendants.filter {
                        $0.isInstance(of: gtk_text_get_type()) || $0.isInstance(of: gtk_switch_get_type())
                    }
                    XCTAssertTrue(inputs.contains { $0.isSame(as: focus) })
                    viewModel.send(.name("Garden"))
                    viewModel.send(.create)
                    XCTAssertTrue(MainLoop.pump { gate.waiting == 1 && gtk_widget_is_sensitive(focus.cast()) == 0 })
                    XCTAssertTrue(inputs.allSatisfy { gtk_widget_is_sensitive($0.cast()) == 0 })
                    XCTAssertEqual(dialog.button("Cancel")?.isSensitive, true)
                    gate.open()
                    XCTAssertTrue(MainLoop.pump { gtk_widget_is_sensitive(focus.cast()) != 0 })
                    XCTAssertTrue(dialog.visibleTexts.contains { $0.hasPrefix("Could not connect to the server") })
                    XCTAssertTrue(focus.isFocus)
                    dialog.close()
                    XCTAssertTrue(MainLoop.pump { !dialog.isMapped })
                }
                parent.close()
            }
        }
    }

    /// The user may have gone on to another widget meanwhile.
    func testFocusThatHasMovedStaysThere() throws {
        try onMain {
            try Resource.load()
            let (service, gate) = (FakeEncryptionService(), Gate())
            service.hold("accept", at: gate)
            service.fail("accept", with: .unreachable)
            let parent = TestWindow(Label("behind"), width: 360, height: 640)
            do {
                let verification = Verification(
                    id: "v", user: MemberID("@bo:example.org"), isOwn: false, isIncoming: true, phase: .requested)
                let viewModel = VerificationViewModel(verification, name: "Bo", service: service)
                let dialog = VerificationDialog.present(viewModel, over: parent.window).widget
                XCTAssertTrue(MainLoop.pump { dialog.button("Accept") != nil })
                let accept = try XCTUnwrap(dialog.button("Accept"))
                accept.grabFocus()
                viewModel.send(.accept)
                XCTAssertTrue(MainLoop.pump { !accept.isSensitive })
                let notNow = try XCTUnwrap(dialog.button("Not Now"))
                notNow.grabFocus()
                gate.open()
                XCTAssertTrue(MainLoop.pump { accept.isSensitive })
                XCTAssertTrue(notNow.isFocus)
                dialog.close()
                XCTAssertTrue(MainLoop.pump { !dialog.isMapped })
            }
            parent.close()
        }
    }
}
