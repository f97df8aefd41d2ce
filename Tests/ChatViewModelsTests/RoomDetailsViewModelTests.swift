import ChatCore
import ChatTestSupport
import Testing

@testable import ChatViewModels

@MainActor @Suite(.timeLimit(.minutes(10))) struct RoomDetailsViewModelTests {
    private let service = FakeChatService()
    private let room = RoomID("room")

    private func details() -> RoomDetailsViewModel {
        RoomDetailsViewModel(room: room, name: "Old", service: service)
    }

    @Test func followsMembershipChanges() async {
        var left = Fixtures.other
        left.hasLeft = true
        service.openings[room] = .opened(
            TimelinePage(messages: [], hasOlder: false), members: [Fixtures.own, Fixtures.other], fullyReadMarker: nil)
        let details = details()
        details.start()
        details.start()
        await eventually { details.state.entries.count == 2 }
        #expect(details.state.entries.map(\.canBeRemoved) == [false, true])
        service.publish(.typing([Fixtures.other.id]))
        service.publish(.members([Fixtures.own, left]))
        await eventually { details.state.entries.map(\.member) == [Fixtures.own] }
    }

    @Test func newNameIsShownAsStored() async {
        let details = details()
        details.send(.rename("  A \n new  name "))
        await eventually { details.state.name == "A new name" }
        #expect(service.calls == [.rename(room, "A new name")])
        #expect(details.state.error == nil)
    }

    @Test("The rule is the server's; a change is shown at once and reverted if it fails")
    func notifications() async {
        service.capabilities = [.notificationSettings]
        let details = details()
        details.start()
        #expect(details.state.hasNotifications && details.state.notifications == nil)
        service.notifications.continuation.yield(NotificationSettings(rooms: [room: .mentions, RoomID("b"): .all]))
        await eventually { details.state.notifications == .mentions }
        details.send(.notify(.mentions))
        details.send(.notify(.nothing))
        await eventually { details.state.notifications == .nothing }
        await eventually { [service, room] in service.calls.contains(.notify(.nothing, room)) }
        #expect(!service.calls.contains(.notify(.mentions, room)), "nothing changed")
        service.before = { _ in throw ChatError.unreachable }
        details.send(.notify(.all))
        await eventually { details.state.error == .unreachable }
        #expect(details.state.notifications == .nothing)
    }

    private func notified() -> [FakeChatService.Call] {
        service.calls.filter { if case .notify = $0 { true } else { false } }
    }

    @Test("The rule chosen last is shown and set, even if it is the server's while another waits")
    func lastRuleWins() async {
        service.capabilities = [.notificationSettings]
        let details = details()
        details.start()
        service.notifications.continuation.yield(NotificationSettings(rooms: [room: .mentions]))
        await eventually { details.state.notifications == .mentions }
        let gate = Gate()
        service.before = { if case .rename = $0 { await gate.pass() } }
        details.send(.rename("New"))
        await eventually { gate.waiting == 1 }
        details.send(.notify(.nothing))
        details.send(.notify(.mentions))
        details.send(.notify(.mentions))
        #expect(details.state.notifications == .mentions)
        details.send(.notify(nil))
        details.send(.notify(nil))
        details.send(.rename("Newer"))
        #expect(details.state.notifications == nil)
        gate.open()
        await eventually { details.state.name == "Newer" }
        #expect(notified() == [.notify(.nothing, room), .notify(.mentions, room), .notify(nil, room)])
        #expect(details.state.notifications == nil)
    }

    @Test("A rule that arrives from the server during a request that fails is kept")
    func failureKeepsTheServersRule() async {
        service.capabilities = [.notificationSettings]
        let details = details()
        details.start()
        service.notifications.continuation.yield(NotificationSettings(rooms: [room: .mentions]))
        await eventually { details.state.notifications == .mentions }
        let gate = Gate()
        service.before = { _ in
            await gate.pass()
            throw ChatError.unreachable
        }
        details.send(.notify(.nothing))
        await eventually { gate.waiting == 1 }
        service.notifications.continuation.yield(NotificationSettings(rooms: [room: .all]))
        await waitUntilIdle()
        #expect(details.state.notifications == .nothing)
        gate.open()
        await eventually { details.state.error == .unreachable }
        #expect(details.state.notifications == .all)
        // A choice that failed can be made again.
        service.before = { _ in }
        details.send(.notify(.nothing))
        await eventually { details.state.error == nil }
        #expect(notified() == [.notify(.nothing, room), .notify(.nothing, room)])
        #expect(details.state.notifications == .nothing)
    }

    @Test func failureIsShownUntilAnActionSucceeds() async {
        let details = details()
        service.before = { _ in throw ChatError.diskFull }
        details.send(.rename("New"))
        await eventually { details.state.error == .diskFull }
        #expect(details.state.name == "Old")
        service.before = { _ in }
        details.send(.remove(Fixtures.other.id))
        await eventually { details.state.error == nil }
        #expect(service.calls.last == .remove(Fixtures.other.id, room))
    }

    @Test("The failure of an action stays when one that was queued behind it succeeds")
    func failureOutlivesQueuedActions() async {
        let details = details()
        let gate = Gate()
        service.before = { call in
            guard case .rename = call else { return }
            await gate.pass()
            throw ChatError.unreachable
        }
        details.send(.rename("New"))
        await eventually { gate.waiting == 1 }
        details.send(.remove(Fixtures.other.id))
        gate.open()
        await eventually { [service, room] in service.calls.last == .remove(Fixtures.other.id, room) }
        await waitUntilIdle()
        #expect(details.state.error == .unreachable)
        details.send(.remove(Fixtures.own.id))
        await eventually { details.state.error == nil }
    }

    @Test("The failure of a name is gone once the one that was entered after it is set")
    func failureOfAnEarlierName() async {
        let details = details()
        let gate = Gate()
        service.before = { [room] call in
            guard call == .rename(room, "One") else { return }
            await gate.pass()
            throw ChatError.unreachable
        }
        details.send(.rename("One"))
        await eventually { gate.waiting == 1 }
        details.send(.rename("Two"))
        gate.open()
        await eventually { details.state.name == "Two" && details.state.error == nil }
    }

    @Test("A failure is shown in one place: in the dialog while that is open, in the window afterwards")
    func failureIsShownOnce() async {
        let reported = Recorder<ChatError>()
        let details = RoomDetailsViewModel(room: room, name: "Old", service: service) { reported.record($0) }
        service.before = { _ in throw ChatError.unreachable }
        details.send(.rename("New"))
        await eventually { details.state.error == .unreachable }
        await waitUntilIdle()
        #expect(reported.values.isEmpty && details.state.name == "Old")
        details.abandon()
        details.send(.remove(Fixtures.other.id))
        await eventually { reported.values == [.unreachable] }
    }

    @Test("An action that fails after its dialog was closed is reported")
    func failureAfterClosingIsReported() async {
        let (reported, gate) = (Recorder<ChatError>(), Gate())
        service.before = { _ in
            await gate.pass()
            throw ChatError.unreachable
        }
        do {
            let details = RoomDetailsViewModel(room: room, name: "Old", service: service) { reported.record($0) }
            details.send(.rename("New"))
            await eventually { gate.waiting == 1 }
            details.abandon()
        }
        gate.open()
        await eventually { reported.values == [.unreachable] }
    }

    @Test("A long member list is truncated and can be searched")
    func membersAreSearched() async {
        let entries = (0..<40).map {
            RoomMembers.Entry(Member(id: MemberID("@user\($0):x"), displayName: "Ann \($0)", kind: .person))
        }
        var state = RoomDetailsViewModel.State(name: "Room", entries: entries)
        #expect(state.needsSearch && state.listed == Array(entries.prefix(30)) && state.unlistedCount == 10)
        state.query = "ANN 39"
        #expect(state.listed == [entries[39]] && state.unlistedCount == 0)
        state.query = "user38:"
        #expect(state.listed == [entries[38]])
        // Without a search field, the text entered in it earlier no longer filters.
        state.entries = Array(entries.prefix(30))
        #expect(!state.needsSearch && state.listed.count == 30)
    }

    @Test("A member's detail line shows only what is special about them")
    func memberDetails() {
        #expect(RoomMembers.Entry(Fixtures.other).detail(.untranslated).isEmpty)
        #expect(RoomMembers.Entry(Fixtures.own, isInvited: true).detail(.untranslated) == "You · Invited")
    }

    @Test func invalidNameIsRejected() async {
        let details = details()
        details.send(.rename(" \n"))
        await eventually { details.state.error == .invalidName }
        #expect(service.calls.isEmpty && details.state.name == "Old")
    }

    /// The last name entered wins.
    @Test func renamesKeepTheirOrder() async {
        let gate = Gate()
        service.before = { if $0 == .rename(RoomID("room"), "One") { await gate.pass() } }
        let details = details()
        details.send(.rename("One"))
        details.send(.rename("Two"))
        await eventually { gate.waiting == 1 }
        await waitUntilIdle()
        #expect(service.calls == [.rename(room, "One")])
        gate.open()
        await eventually { details.state.name == "Two" }
        #expect(service.calls == [.rename(room, "One"), .rename(room, "Two")])
    }

    @Test(
        arguments: [
            ("Name", "Name"), ("  Name\t", "Name"), ("A\nB", "A B"), ("", nil), (" \n ", nil),
            (String(repeating: "é", count: 100), String(repeating: "é", count: 100)),
            (String(repeating: "é", count: 101), nil),
            (" " + String(repeating: "x", count: 100) + " ", String(repeating: "x", count: 100)),
        ] as [(String, String?)])
    func roomNamesAreTrimmedAndBounded(typed: String, valid: String?) {
        #expect(RoomName.valid(typed) == valid)
    }
}
