import ChatCore
import ChatTestSupport
import Composer
import Foundation
import Testing

@testable import ChatViewModels

/// What is kept and told of rooms that the user is no longer in.
@MainActor @Suite("Rooms that the user is no longer in", .timeLimit(.minutes(10)))
final class LeftRoomTests: CoordinatorHarness {
    private let unsent = Recorder<String>()

    private func follow() {
        coordinator.onUnsent = { [unsent] text, room in unsent.record("\(room.rawValue): \(text)") }
        coordinator.followUnsent()
    }

    private func report(_ messages: [String], _ draft: SavedDraft? = nil, of room: RoomID) {
        service.unsent.continuation.yield(
            UnsentContent(room: room, messages: messages.map { WrittenMessage($0) }, draft: draft))
    }

    @Test("The texts of queued messages and of the draft are handed on")
    func texts() async {
        follow()
        report(["one", "two"], ComposerHarness.draft("new words", editing: "m1", stash: "three"), of: a)
        report([], SavedDraft(data: Data("nonsense".utf8), preview: "four"), of: b)
        report([], ComposerHarness.draft("new words", editing: "m1"), of: b)
        report(["five"], of: b)
        await eventually { [unsent] in unsent.values == ["a: one\n\ntwo\n\nthree", "b: four", "b: five"] }
    }

    @Test("What the user chose to discard by leaving is not handed on, unless they could not leave or are back")
    func discardedTexts() async {
        follow()
        _ = await start()
        coordinator.rooms.send(.leave(a))
        report(["one"], of: a)
        report(["two"], of: b)
        await eventually { [unsent] in unsent.values == ["b: two"] }
        await show(["b"])
        await show(["b", "a"])
        report(["three"], of: a)
        await eventually { [unsent] in unsent.values == ["b: two", "a: three"] }
        service.before = { if case .leave = $0 { throw ChatError.unreachable } }
        coordinator.rooms.send(.leave(a))
        await eventually { [coordinator] in !coordinator.toasts.isEmpty }
        report(["four"], of: a)
        await eventually { [unsent] in unsent.values == ["b: two", "a: three", "a: four"] }
    }

    @Test("Who removes the user from a room is told, unless the user is leaving it, and waits for a window")
    func removals() async {
        coordinator.followRemovals()
        _ = await start()
        coordinator.requests.send(.windowAppeared)
        coordinator.rooms.send(.leave(a))
        let removals = [a, b].map { room in
            RoomRemoval(
                room: room, roomName: "Garden", kind: .removed, actor: MemberID("bo"), actorName: "Bo", reason: nil)
        }
        for removal in removals { service.removals.continuation.yield(removal) }
        await eventually { [coordinator] in coordinator.toasts == [.removed(removals[1])] }
        coordinator.requests.show(.message("outdated"))
        coordinator.requests.send(.windowAppeared)
        #expect(coordinator.toasts == [.removed(removals[1])])
    }

    @Test("What both the store and the composer had is kept once")
    func duplicates() {
        let replies = UnsentReplies()
        let target = NotificationTarget(account: "@ann:x", room: a)
        replies.keep("one\n\ntwo", in: target)
        replies.keep("two", in: target)
        replies.keep("tw", in: target)
        replies.keep("two", in: NotificationTarget(account: "@ann:x", room: b))
        #expect(replies.replies.map(\.text) == ["one\n\ntwo", "tw", "two"])
        #expect(replies.replies.allSatisfy { $0.isComposed })
    }
}
