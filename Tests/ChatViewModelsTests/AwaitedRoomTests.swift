import ChatCore
import ChatTestSupport
import Testing

@testable import ChatViewModels

/// Which room a folded window shows in place of its room list, and when.
@MainActor @Suite(.timeLimit(.minutes(10))) final class AwaitedRoomTests: CoordinatorHarness {
    private let account = AccountsCoordinator.localID
    private let c = RoomID("c")

    private func room(_ id: RoomID) -> AccountRoom { AccountRoom(account, id) }

    @Test("A room that is open already is shown at once, another one once it is open")
    func shownOnceOpen() {
        var awaited = AwaitedRoom()
        let isShown = [
            awaited.request(room(a), open: .room(a), in: account),
            awaited.request(room(b), open: .room(a), in: account),
            awaited.noteOpened(.room(b), in: account),
            awaited.noteOpened(.room(a), in: account),
        ]
        #expect(isShown == [true, false, true, false], "each request counts once")
    }

    @Test("Who has opened another room meanwhile stays there")
    func otherRoomEndsTheWait() {
        var awaited = AwaitedRoom()
        let isShown = [
            awaited.request(room(c), open: nil, in: account),
            awaited.noteOpened(.room(b), in: account),
            awaited.noteOpened(.room(c), in: account),
        ]
        #expect(isShown == [false, false, false])
    }

    @Test("What another account opens meanwhile changes nothing")
    func otherAccount() {
        var awaited = AwaitedRoom()
        let other = AccountRoom("@ann:x", a)
        let isShown = [
            awaited.request(other, open: .room(a), in: account),
            awaited.noteOpened(.room(b), in: account),
            awaited.noteOpened(.room(a), in: "@ann:x"),
        ]
        #expect(isShown == [false, false, true])
    }

    @Test("An invitation counts as its room, which is not awaited any more once it is shown")
    func invitation() {
        var awaited = AwaitedRoom()
        let isShown = [
            awaited.request(room(c), open: .room(a), in: account),
            awaited.noteOpened(.invitation(c), in: account),
            awaited.noteOpened(.room(c), in: account),
            awaited.noteOpened(.room(c), in: account),
        ]
        #expect(isShown == [false, true, false, false])
    }

    @Test("A room that is joined by its address is not shown before the server has answered and lists it")
    func joining() async {
        service.capabilities = [.join]
        let gate = Gate()
        service.joining = { _ in
            await gate.pass()
            return RoomID("c")
        }
        _ = await start()
        let opening = Recorder<RoomID>()
        coordinator.open("#c:example.org") { opening.record($0) }
        await eventually { gate.waiting == 1 }
        #expect(opening.values.isEmpty)
        gate.open()
        await eventually { [c] in opening.values == [c] }
        var awaited = AwaitedRoom()
        let isShown = awaited.request(room(c), open: coordinator.openItem, in: account)
        #expect(!isShown && coordinator.openItem == .room(a))
        await show(["a", "b", "c"])
        await eventually { [coordinator, c] in coordinator.openItem == .room(c) }
        let isShownThen = awaited.noteOpened(.room(c), in: account)
        #expect(isShownThen)
    }

    @Test("An address that fails, or is late, is not shown", arguments: [true, false])
    func notJoined(_ fails: Bool) async {
        service.capabilities = [.join]
        let gate = Gate()
        service.joining = { _ in
            await gate.pass()
            if fails { throw ChatError.unreachable }
            return RoomID("c")
        }
        _ = await start()
        let opening = Recorder<RoomID>()
        coordinator.open("#c:example.org") { opening.record($0) }
        await eventually { gate.waiting == 1 }
        if !fails { await open(b) }
        gate.open()
        await waitUntilIdle()
        #expect(opening.values.isEmpty && coordinator.toasts == (fails ? [.failed(.unreachable)] : []))
    }

    @Test("A listed room is reported as well, and so is one that is created")
    func listedAfterAll() async {
        _ = await start()
        let opening = Recorder<RoomID>()
        coordinator.open("b") { opening.record($0) }
        await eventually { [b] in opening.values == [b] }
        #expect(coordinator.openItem == .room(b))
        coordinator.rooms.create(named: "c") { opening.record($0) }
        await eventually { [b, c] in opening.values == [b, c] }
        #expect(coordinator.openItem == .room(b), "it is not listed yet")
        await show(["c", "a", "b"])
        await eventually { [coordinator, c] in coordinator.openItem == .room(c) }
    }

    @Test("Between an accepted invitation and its room nothing is open")
    func acceptedInvitation() async throws {
        _ = await start()
        let garden = Invitation(
            room: c, name: "Garden", inviter: MemberID("@ann:a"), inviterName: "Ann",
            receivedAt: localTime(2026, 3, 10))
        service.publish([garden])
        await eventually { [coordinator] in coordinator.rooms.state.invitations == [garden] }
        coordinator.rooms.send(.select(c))
        let page = try #require(coordinator.invitation)
        #expect(!page.state.isAccepted)
        page.send(.accept)
        #expect(page.state.isAccepted)
        service.publish([Invitation]())
        await eventually { [coordinator] in coordinator.openItem == nil }
        #expect(page.state.isAccepted, "as the window sees that the room follows")
        await show(["c", "a", "b"])
        await eventually { [coordinator, c] in coordinator.openItem == .room(c) }
    }
}
