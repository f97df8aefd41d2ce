import ChatCore
import ChatTestSupport
import Composer
import Testing

@testable import ChatViewModels

/// Rooms that open late: whoever has chosen another one since stays there.
@MainActor @Suite(.timeLimit(.minutes(10))) final class UserChoiceTests: CoordinatorHarness {
    private let opened = Recorder<RoomID>()

    /// Has the server join the rooms of these gates' aliases once they open: `#c:example.org` is the room `c`.
    private func join(_ gates: [String: Gate]) {
        service.capabilities = [.join]
        service.joining = { address in
            let room = String(address.dropFirst().prefix { $0 != ":" })
            await gates[room]?.pass()
            return RoomID(room)
        }
    }

    private func link(to room: String) { coordinator.open("#\(room):example.org") { [opened] in opened.record($0) } }

    private func open(_ gate: Gate) async {
        gate.open()
        await waitUntilIdle()
    }

    private func selection(listing rooms: [String]) async -> RoomID? {
        await show(rooms)
        await waitUntilIdle()
        return coordinator.rooms.state.selection
    }

    @Test(
        "A user who has opened a room since the start stays there, also in the one that was selected at the start",
        arguments: ["a", "b"])
    func choiceSinceTheStart(room: String) async {
        let gate = Gate()
        join(["c": gate])
        coordinator.start(opening: nil)
        link(to: "c")
        await eventually { gate.waiting == 1 }
        await show(["a", "b"])
        await eventually { [coordinator, a] in coordinator.rooms.state.selection == a }
        coordinator.rooms.send(.select(RoomID(room)))
        await open(gate)
        #expect(await selection(listing: ["a", "b", "c"]) == RoomID(room))
        #expect(opened.values.isEmpty)
    }

    @Test("A user who has returned from another room stays where they are")
    func returnToTheFormerRoom() async {
        let gate = Gate()
        join(["c": gate])
        _ = await start()
        link(to: "c")
        await eventually { gate.waiting == 1 }
        for room in [b, a] { coordinator.rooms.send(.select(room)) }
        await open(gate)
        #expect(await selection(listing: ["a", "b", "c"]) == a)
        #expect(opened.values.isEmpty)
    }

    @Test("Of two links the later one opens its room, whichever is joined first", arguments: [true, false])
    func laterLinkWins(isJoinedLast: Bool) async {
        let (earlier, later) = (Gate(), Gate())
        join(["c": earlier, "d": later])
        _ = await start()
        link(to: "c")
        link(to: "d")
        await eventually { earlier.waiting == 1 && later.waiting == 1 }
        for gate in isJoinedLast ? [earlier, later] : [later, earlier] { await open(gate) }
        #expect(await selection(listing: ["a", "b", "c", "d"]) == RoomID("d"))
    }

    @Test("A user who has opened another room stays there; a reply is started once they open its room")
    func laterReply() async {
        let conversation = await start()
        let choice = UserChoice()
        await open(b)
        coordinator.reply(to: MessageID("m1"), in: a, as: choice)
        await waitUntilIdle()
        #expect(coordinator.conversation?.roomID == b && coordinator.rooms.state.selection == b)
        #expect(conversation.composer.state.composer.reply == nil)
        let again = await open(a)
        await eventually { again.composer.state.composer.reply?.messageID == "m1" }
        again.composer.handle(.reply(nil))
        await open(b)
        await open(a)
        await waitUntilIdle()
        #expect(again.composer.state.composer.reply == nil, "it is started once")
    }

    @Test("A reply whose message has not loaded before the user opens another room is started in the next visit")
    func replyBeforeItsMessageHasLoaded() async {
        _ = await start()
        let opening = service.openings.removeValue(forKey: b)
        coordinator.reply(to: MessageID("m1"), in: b)
        #expect(coordinator.conversation?.roomID == b)
        await open(a)
        await waitUntilIdle()
        service.openings[b] = opening
        let conversation = await open(b)
        await eventually { conversation.composer.state.composer.reply?.messageID == "m1" }
    }

    @Test("A reply in a room that is not listed yet waits for the user who has opened another one")
    func replyInAnUnlistedRoom() async {
        _ = await start()
        let c = RoomID("c")
        coordinator.reply(to: MessageID("m1"), in: c)
        await open(b)
        service.openings[c] = .opened(
            TimelinePage(messages: [own("m1", in: "c")], hasOlder: false), members: [Fixtures.own, Fixtures.other],
            fullyReadMarker: nil)
        await show(["a", "b", "c"])
        #expect(coordinator.conversation?.roomID == b)
        let conversation = await open(c)
        await eventually { conversation.composer.state.composer.reply?.messageID == "m1" }
    }

    @Test("An invitation that was accepted before the link was opened does not keep its room from opening")
    func linkDuringAnAcceptance() async throws {
        let (joining, accepting) = (Gate(), Gate())
        join(["c": joining])
        _ = await start()
        let garden = Invitation(
            room: RoomID("garden"), name: "Garden", inviter: MemberID("@ann:a"), receivedAt: localTime(2026, 3, 10))
        service.publish([garden])
        await eventually { [coordinator] in coordinator.rooms.state.invitations == [garden] }
        coordinator.rooms.send(.select(garden.room))
        service.before = { if case .accept = $0 { await accepting.pass() } }
        try #require(coordinator.invitation).send(.accept)
        await eventually { accepting.waiting == 1 }
        link(to: "c")
        await eventually { joining.waiting == 1 }
        await open(accepting)
        await open(joining)
        #expect(await selection(listing: ["a", "b", "c"]) == RoomID("c"))
    }
}
