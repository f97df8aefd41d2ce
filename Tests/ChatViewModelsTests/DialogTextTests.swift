import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatViewModels

/// The texts of dialogs about rooms and accounts.
@Suite @MainActor struct DialogTextTests {
    private static let wording = Wording(
        translator: .untranslated, byteCount: { "\($0) bytes" }, fullDate: { _ in "a date" })

    private func entry(_ name: String, isInvited: Bool = false) -> RoomMembers.Entry {
        RoomMembers.Entry(
            Member(id: MemberID(name), displayName: name, kind: .person), isInvited: isInvited)
    }

    @Test("Confirmations name the room and the member, whatever their names contain")
    func confirmations() {
        #expect(ConfirmationText.leaving("{room}", losing: PendingCount(), .untranslated).heading == "Leave “{room}”?")
        #expect(ConfirmationText.removing(Fixtures.other, .untranslated).heading == "Remove Alex?")
        #expect(ConfirmationText.removing(Fixtures.other, .untranslated).action == "_Remove")
    }

    @Test("Leaving says how much that is unsent will be lost")
    func leaving() {
        func body(_ pending: PendingCount?) -> String {
            ConfirmationText.leaving("Tea", losing: pending, .untranslated).body
        }
        let deletion = "Messages in this room will be deleted from this computer."
        #expect(body(PendingCount()) == deletion)
        #expect(
            body(PendingCount(messages: 2, changes: 1, drafts: 1)) == deletion
                + "\n\n2 unsent messages will be lost.\n1 unsent change to a message will be lost.\n"
                + "1 draft will be lost.")
        #expect(body(nil).contains("could not be counted"))
    }

    @Test("Signing out requires confirmation, and another one if the server cannot be reached")
    func signingOut() {
        var state = SignOutViewModel.State(account: "@ann:x")
        #expect(state.confirmation(Self.wording) == nil)
        state.step = .confirming(nil)
        #expect(state.confirmation(Self.wording)?.heading == "Sign Out of @ann:x?")
        #expect(state.confirmation(Self.wording)?.body == state.losses(.untranslated))
        state.step = .signingOut
        #expect(state.confirmation(Self.wording) == nil)
        state.step = .failed(.unreachable(reason: "x"))
        #expect(state.confirmation(Self.wording)?.heading == "Could Not Sign Out")
        #expect(state.confirmation(Self.wording)?.body.contains("stays signed in on the server") == true)
        state.step = .over
        #expect(state.confirmation(Self.wording) == nil)
    }

    @Test("Room details have the number of joined members, and of those that only a search shows")
    func memberCounts() {
        var state = RoomDetailsViewModel.State(name: "Tea")
        state.entries = [entry("a"), entry("b", isInvited: true)]
        #expect(state.memberCountText(.untranslated) == "1 member" && state.unlistedText(.untranslated) == nil)
        state.entries = (0..<33).map { entry("\($0)") }
        #expect(state.memberCountText(.untranslated) == "33 members")
        #expect(state.unlistedText(.untranslated) == "Search to find 3 more")
        #expect(entry("Ann").removalLabel(.untranslated) == "Remove Ann")
    }

    @Test("The topic can be changed only if rooms have one and the user is permitted")
    func topicPermission() {
        var state = RoomDetailsViewModel.State(name: "Tea", permissions: [.setTopic])
        #expect(!state.canSetTopic)
        state.hasTopic = true
        #expect(state.canSetTopic)
        #expect(!state.isNameInvalid)
        state.error = .invalidName
        #expect(state.isNameInvalid)
    }

    @Test(
        "An invitation can be declined, an own request withdrawn; an address used as the title is not repeated")
    func invitations() {
        let texts = InvitationText(Self.wording)
        var invitation = Invitation(
            room: RoomID("r"), name: "Garden", inviter: MemberID("@ann:a"), receivedAt: Fixtures.date)
        #expect(texts.decline(invitation) == "_Decline" && texts.address(of: invitation) == nil)
        invitation.address = "#garden:a"
        #expect(texts.address(of: invitation) == "#garden:a")
        invitation.name = nil
        #expect(invitation.title != "#garden:a" || texts.address(of: invitation) == nil)
        #expect(InvitationViewModel.State(invitation: invitation).canBeAccepted)
        invitation.isKnock = true
        #expect(texts.decline(invitation) == "_Withdraw Request")
        #expect(texts.inviter(of: invitation)?.hasSuffix("A member needs to approve your request.") == true)
        #expect(!InvitationViewModel.State(invitation: invitation).canBeAccepted)
    }

    @Test("Each export format has a name")
    func exportFormats() {
        let texts = TransferText(Self.wording)
        let names = Set(ExportFormat.allCases.map { texts.name(of: $0) })
        #expect(names.count == ExportFormat.allCases.count)
        #expect(texts.exportHeading("{room} & co") == "Export “{room} & co”")
    }

    @Test("Before a room is exported, the dialog says that the files are not encrypted")
    func exportExplanation() {
        #expect(TransferText(Self.wording).exportExplanation.contains("not encrypted"))
    }

    @Test("A canceled transfer says that nothing changed")
    func canceledTransfer() {
        #expect(TransferText(Self.wording).body(.cancelled) == "No changes were made.")
        #expect(TransferText(Self.wording).body(.stopping).isEmpty)
    }
}

/// Dialogs that ask for a name or an address.
@Suite @MainActor struct RoomEntryTests {
    @Test("A local room is created only with a valid name, which is normalized")
    func localRoom() {
        let created = Recorder<String>()
        let viewModel = NewLocalRoomViewModel { created.record($0) }
        viewModel.send(.create)
        viewModel.send(.name("  "))
        viewModel.send(.create)
        viewModel.send(.name(String(repeating: "x", count: ChatLimits.roomNameLength + 1)))
        #expect(!viewModel.state.canCreate)
        viewModel.send(.create)
        #expect(created.values.isEmpty)
        viewModel.send(.name("  Our \n garden "))
        #expect(viewModel.state.canCreate)
        viewModel.send(.create)
        #expect(created.values == ["Our garden"])
    }

    @Test("Only an address can be opened")
    func address() {
        let opened = Recorder<String>()
        let viewModel = AddressViewModel { opened.record($0) }
        viewModel.send(.address("garden"))
        viewModel.send(.open)
        #expect(!viewModel.state.canOpen && opened.values.isEmpty)
        viewModel.send(.address("#garden:example.org"))
        #expect(viewModel.state.canOpen)
        viewModel.send(.open)
        #expect(opened.values == ["#garden:example.org"])
    }

    @Test("A shared room’s name and topic are marked as invalid only when they are")
    func sharedRoom() {
        var state = NewRoomViewModel.State()
        #expect(!state.isNameInvalid && !state.canCreate)
        state.name = "  "
        #expect(state.isNameInvalid)
        state.name = "Garden"
        #expect(!state.isNameInvalid && state.canCreate)
        state.topic = String(repeating: "x", count: ChatLimits.topicLength + 1)
        #expect(state.isTopicTooLong && !state.canCreate)
    }

    @Test("The default server of a new account is open to everyone")
    func suggestedServer() {
        var state = SignInViewModel.State()
        #expect(state.suggestedServer == "matrix.org")
        state.again = Account(id: "@ann:x", kind: "matrix", server: "https://x", device: "D", name: "ann")
        #expect(state.suggestedServer.isEmpty)
    }
}
