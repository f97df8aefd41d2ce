import ChatCore
import ChatTestSupport
import Composer
import Foundation
import Testing

@testable import ChatOutbox
@testable import MatrixBackend

/// How the user's own messages and changes are displayed before the store has them.
@Suite(.timeLimit(.minutes(10))) struct UnsentMessagesTests {
    private let room = AccountParts.room
    private let unsent = UnsentMessages(ownUserID: AccountParts.own, unreadable: "Unreadable")
    private let echo = LocalEchoes.id(of: TransactionID("t"))

    @Test("A page includes the echoes only if it reaches the end of the timeline")
    func pageEnd() {
        _ = unsent.update([AccountParts.sent("New", transaction: "t")], in: room)
        let page = TimelinePage(messages: [Fixtures.message(1)], hasOlder: false)
        #expect(unsent.displayed(page, of: room).messages.map(\.text) == ["Message 1", "New"])
        #expect(unsent.displayed(page, of: room, before: 5).messages.map(\.text) == ["Message 1"])
        let earlier = TimelinePage(messages: [Fixtures.message(1)], hasOlder: false, hasNewer: true)
        #expect(unsent.displayed(earlier, of: room).messages.map(\.text) == ["Message 1"])
    }

    @Test("A change queued after a message applies to its echo and to the room list")
    func changes() {
        let sent = AccountParts.sent("New", transaction: "t")
        var update = unsent.update([sent], in: room)
        #expect(update.changesNewest && update.targets.isEmpty)
        let target = OutboxTarget.queued(TransactionID("t"))
        update = unsent.update([sent, AccountParts.item("u", .edit(target, WrittenText("Newer")))], in: room)
        #expect(update.changesNewest && update.targets == [target])
        #expect(update.echoes == LocalEchoes.Change(), "the echo itself has not changed")
        #expect(unsent.newest(in: room)?.text == "Newer")
        #expect(unsent.echo(echo, in: room)?.target == target)
        _ = unsent.update([sent, AccountParts.item("u", .delete(target))], in: room)
        #expect(unsent.newest(in: room) == nil && unsent.echo(echo, in: room) == nil)
    }

    @Test("A change of an accepted message targets its event")
    func acceptedTarget() {
        _ = unsent.update([AccountParts.sent("New", transaction: "t")], in: room)
        unsent.withEchoes { $0.accept(TransactionID("t"), as: MessageID("$1"), in: room, during: 1) }
        #expect(unsent.echo(echo, in: room)?.target == .message(MessageID("$1")))
    }

    @Test("A failed message does not hide another user's newer one in the room list", arguments: [false, true])
    func roomList(isFailed: Bool) {
        let state: OutboxItem.State = isFailed ? .failed(reason: "") : .waiting
        _ = unsent.update([AccountParts.sent("Mine", transaction: "t", state: state)], in: room)
        let later = Fixtures.date.addingTimeInterval(60)
        let last = RoomSummary.LastMessage(
            senderName: "Ann", isOwn: false, text: "Theirs", syntax: nil, sentAt: later, delivery: .sent)
        func summary(_ id: RoomID) -> RoomSummary {
            RoomSummary(
                room: Room(id: id, name: "Room", kind: .group), lastMessage: last, lastActivity: later, unreadCount: 0,
                draftPreview: nil)
        }
        let rooms = unsent.displayed([summary(RoomID("other")), summary(room)])
        #expect(rooms.map(\.id.rawValue) == ["other", room.rawValue])
        #expect(rooms[1].lastMessage?.text == (isFailed ? "Theirs" : "Mine"))
    }

    @Test func aRoomThatWasLeftHasNothingUnsent() {
        _ = unsent.update([AccountParts.sent("New", transaction: "t")], in: room)
        unsent.forget(room)
        #expect(unsent.newest(in: room) == nil)
    }
}
