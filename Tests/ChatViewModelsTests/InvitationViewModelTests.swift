import ChatCore
import ChatTestSupport
import ChatViewModels
import Foundation
import Testing

/// Invitations in the room list, and their page.
@MainActor @Suite(.timeLimit(.minutes(10))) struct InvitationViewModelTests {
    private let service = FakeChatService()
    private let coordinator: ConversationCoordinator
    private let garden = Invitation(
        room: RoomID("garden"), name: "Garden", inviter: MemberID("@ann:a"), inviterName: "Ann",
        receivedAt: localTime(2026, 3, 10))
    private let ann = Invitation(
        room: RoomID("ann"), inviter: MemberID("@ann:a"), inviterName: "Ann", isDirect: true,
        receivedAt: localTime(2026, 3, 9))

    init() { coordinator = ConversationCoordinator(service: service, now: { localTime(2026, 3, 10) }) }

    private var list: RoomListViewModel { coordinator.rooms }

    private func start(_ rooms: [String], _ invitations: [Invitation]) async {
        coordinator.start(opening: nil)
        service.publish(rooms.map { RoomSummary.of($0) })
        service.publish(invitations)
        await eventually { [list] in
            list.state.rows.map(\.id.rawValue) == rooms && list.state.invitations == invitations && list.state.isLoaded
        }
    }

    @Test func invitationsComeFirstFollowedByDirectChats() async {
        coordinator.start(opening: nil)
        service.publish([.of("plans"), .of("bo", kind: .direct)])
        service.publish([garden, ann])
        await eventually { [list] in list.state.sections.count == 3 }
        let sections = list.state.sections
        #expect(sections.map(\.kind) == [.invitations, .direct, .rooms])
        #expect(sections.map { $0.rows.map(\.name) } == [["Garden", "Ann"], ["Room bo"], ["Room plans"]])
        #expect(sections[0].rows.map(\.preview) == [.invitation(by: "Ann"), .invitation(by: "Ann")])
        #expect(list.state.unreadTotal == 2, "each waits like a message")
        // Keyboard navigation follows the list's order.
        #expect(list.state.selection == RoomID("plans"))
        list.send(.selectNeighbor(-1))
        #expect(list.state.selection == RoomID("bo"))
        list.send(.selectUnreadNeighbor(-1))
        #expect(coordinator.openItem == .invitation(RoomID("ann")))
        list.send(.selectNeighbor(-5))
        #expect(coordinator.openItem == .invitation(RoomID("garden")) && coordinator.conversation == nil)
    }

    @Test func emptySectionsAreOmitted() async {
        await start(["plans"], [])
        #expect(list.state.sections.map(\.kind) == [.rooms] && !list.state.isEmpty)
        await start([], [])
        #expect(list.state.isEmpty && list.state.sections.isEmpty)
        service.publish([garden])
        await eventually { [list] in !list.state.isEmpty }
        #expect(coordinator.openItem == nil, "an invitation does not open itself")
    }

    /// The room list and the invitations update separately, in either order.
    @Test(arguments: [true, false]) func acceptedInvitationBecomesTheRoom(_ roomFirst: Bool) async {
        await start(["plans"], [garden])
        list.send(.select(garden.room))
        let page = coordinator.invitation
        #expect(page?.state.invitation == garden && coordinator.conversation == nil)
        page?.send(.accept)
        #expect(page?.state.pendingDecision == .accept && page?.state.canDecide == false)
        page?.send(.decline)
        await eventually { [service] in service.calls.contains(.accept(RoomID("garden"))) }
        let rooms: [RoomSummary] = [.of("garden"), .of("plans")]
        if roomFirst { service.publish(rooms) } else { service.publish([Invitation]()) }
        await eventually { [list] in roomFirst ? list.state.rows.count == 2 : list.state.invitations.isEmpty }
        if roomFirst { service.publish([Invitation]()) } else { service.publish(rooms) }
        await eventually { [coordinator] in coordinator.openItem == .room(RoomID("garden")) }
        await eventually { [list] in list.state.invitations.isEmpty }
        #expect(coordinator.invitation == nil && coordinator.openItem == .room(RoomID("garden")))
        #expect(!service.calls.contains(.decline(garden.room)), "one answer is one answer")
    }

    @Test func declinedInvitationIsClosed() async {
        await start(["plans"], [garden, ann])
        list.send(.select(garden.room))
        coordinator.invitation?.send(.decline)
        await eventually { [service] in service.calls.contains(.decline(RoomID("garden"))) }
        service.publish([ann])
        await eventually { [coordinator] in coordinator.openItem == nil }
        #expect(list.state.selection == nil)
    }

    @Test func failureIsShownAndCanBeRetried() async {
        await start([], [garden])
        service.before = { call in if call == .accept(RoomID("garden")) { throw ChatError.unreachable } }
        list.send(.select(garden.room))
        let page = coordinator.invitation
        page?.send(.accept)
        await eventually { page?.state.error == .unreachable }
        #expect(page?.state.canDecide == true && coordinator.openItem == .invitation(garden.room))
        service.before = { _ in }
        page?.send(.accept)
        #expect(page?.state.error == nil)
        await eventually { [service] in service.calls.count { $0 == .accept(RoomID("garden")) } == 2 }
    }

    @Test("An answer that fails after its page was left is shown, and cannot be given again until then")
    func answerOfAClosedPageFails() async {
        let gate = Gate()
        service.before = { call in
            guard call == .accept(RoomID("garden")) else { return }
            await gate.pass()
            throw ChatError.unreachable
        }
        await start(["plans"], [garden])
        list.send(.select(garden.room))
        let page = coordinator.invitation
        page?.send(.accept)
        await eventually { gate.waiting == 1 }
        list.send(.select(RoomID("plans")))
        #expect(coordinator.invitation == nil)
        list.send(.select(garden.room))
        #expect(coordinator.invitation === page && page?.state.canDecide == false)
        coordinator.invitation?.send(.decline)
        list.send(.select(RoomID("plans")))
        gate.open()
        await eventually { [coordinator] in coordinator.toasts == [.failed(.unreachable)] }
        #expect(coordinator.openItem == .room(RoomID("plans")))
        list.send(.select(garden.room))
        #expect(coordinator.invitation?.state.canDecide == true, "it can be answered again")
        #expect(service.calls.count { $0 == .accept(garden.room) || $0 == .decline(garden.room) } == 1)
    }

    @Test("Who has opened another room while an invitation is being accepted stays there")
    func answerOfAClosedPageSucceeds() async {
        let gate = Gate()
        service.before = { if $0 == .accept(RoomID("garden")) { await gate.pass() } }
        await start(["plans"], [garden])
        list.send(.select(garden.room))
        coordinator.invitation?.send(.accept)
        await eventually { gate.waiting == 1 }
        list.send(.select(RoomID("plans")))
        gate.open()
        await waitUntilIdle()
        service.publish([.of("garden"), .of("plans")])
        await eventually { [list] in list.state.rows.count == 2 }
        #expect(coordinator.openItem == .room(RoomID("plans")) && coordinator.toasts.isEmpty)
    }

    @Test func updatedInvitationIsShownInPlace() async {
        await start([], [garden])
        list.send(.select(garden.room))
        let page = coordinator.invitation
        var named = garden
        named.topic = "Beds"
        service.publish([named])
        await eventually { page?.state.invitation.topic == "Beds" }
        #expect(coordinator.invitation === page)
    }
}
