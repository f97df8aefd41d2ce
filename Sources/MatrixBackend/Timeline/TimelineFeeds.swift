import ChatCore
import ChatStore
import Synchronization

/// The observers of each room's timeline, and the member names that they have received.
final class TimelineFeeds: Sendable {
    private let unsent: UnsentMessages
    private let feeds = RoomFeeds<MemberNames>()
    /// The other users who are typing, in rooms where some are.
    private let typing = Mutex<[RoomID: [MemberID]]>([:])

    init(unsent: UnsentMessages) {
        self.unsent = unsent
    }

    /// Whether all streams have ended.
    var isFinished: Bool { feeds.isFinished }

    func isObserved(_ room: RoomID) -> Bool { feeds.hasObservers(of: room) }

    /// Adds an observer, which receives the part of the snapshot after a gap, who is typing, and then each update.
    func add(
        _ continuation: AsyncStream<TimelineUpdate>.Continuation, to snapshot: RoomSnapshot, behind gap: TimelineGap?
    ) {
        let room = snapshot.room.id
        let names = names(of: snapshot)
        let opening = opening(snapshot, behind: gap, names)
        feeds.add(continuation, to: room, remembering: names) { _ in
            [opening] + (typing.withLock { $0[room] }.map { [.typing($0)] } ?? [])
        }
    }

    /// Publishes who is typing.
    func setTyping(_ users: [MemberID], in room: RoomID) {
        // Before it is published: an observer that is added meanwhile receives it in either way.
        typing.withLock { $0[room] = users.isEmpty ? nil : users }
        publish(.typing(users), in: room)
    }

    /// Forgets who is typing, before a response that tells of all rooms in which somebody is.
    func endTyping() {
        for room in typing.withLock({ Array($0.keys) }) { setTyping([], in: room) }
    }

    /// Publishes that these users are not typing any more, as they are ignored from now on.
    func endTyping(of users: Set<MemberID>) {
        for (room, members) in typing.withLock({ $0 }) where !users.isDisjoint(with: members) {
            setTyping(members.filter { !users.contains($0) }, in: room)
        }
    }

    /// Restarts the observers of a room with the part of the snapshot after a gap.
    func reopen(_ snapshot: RoomSnapshot, behind gap: TimelineGap?) {
        feeds.publish(opening(snapshot, behind: gap, names(of: snapshot)), in: snapshot.room.id)
    }

    /// Publishes an update; messages have pending changes applied.
    func publish(_ update: TimelineUpdate, in room: RoomID) {
        guard isObserved(room) else { return }
        if case .changed(let messages) = update {
            feeds.publish(.changed(unsent.displayed(messages)), in: room)
        } else {
            feeds.publish(update, in: room)
        }
    }

    /// Publishes the members and messages that a change stored.
    func publish(_ change: RoomChange) {
        if let members = change.members { publish(members, in: change.room) }
        if !change.removed.isEmpty { publish(.removed(change.removed), in: change.room) }
        publish(stored: change.changed, in: change.room)
    }

    /// Publishes messages that the store has, in place of their echoes.
    func publish(stored messages: [Message], in room: RoomID) {
        endEchoes(of: messages, in: room)
        if !messages.isEmpty { publish(.changed(messages), in: room) }
    }

    /// Removes the echoes of messages that the store has.
    func endEchoes(of messages: [Message], in room: RoomID) {
        let removed = unsent.resolve(messages, in: room)
        if !removed.isEmpty { publish(.removed(removed), in: room) }
    }

    /// Publishes members whose displayed name or avatar changed.
    func publish(_ members: [Member], in room: RoomID) {
        feeds.change(room) { names in
            let changed = names.update(members)
            return changed.isEmpty ? nil : .membersChanged(changed)
        }
    }

    /// Ends the streams of a room that was left.
    func close(_ room: RoomID) {
        _ = typing.withLock { $0.removeValue(forKey: room) }
        feeds.end(room, with: .closed)
    }

    /// Ends the streams of a room whose updates cannot be continued.
    func end(_ room: RoomID) { feeds.end(room) }

    /// Ends all streams, including any that begin later.
    func finish() { feeds.finish() }

    /// Returns the names that observers have, or those of a snapshot if there are no observers.
    private func names(of snapshot: RoomSnapshot) -> MemberNames {
        feeds.memory(of: snapshot.room.id) ?? MemberNames(snapshot.members)
    }

    private func opening(_ snapshot: RoomSnapshot, behind gap: TimelineGap?, _ names: MemberNames) -> TimelineUpdate {
        .opened(
            unsent.displayed(snapshot.page.after(gap), of: snapshot.room.id),
            members: snapshot.members.map(names.named), fullyReadMarker: snapshot.fullyReadMarker)
    }
}

extension TimelinePage {
    /// The part of the page after a gap.
    func after(_ gap: TimelineGap?) -> TimelinePage {
        guard let gap else { return self }
        return TimelinePage(
            messages: messages.filter { $0.position >= gap.position }, hasOlder: true, hasNewer: hasNewer)
    }

    /// The part of the page before a gap.
    func before(_ gap: TimelineGap) -> TimelinePage {
        let remaining = messages.filter { $0.position < gap.position }
        return TimelinePage(
            messages: remaining, hasOlder: hasOlder, hasNewer: hasNewer || remaining.count < messages.count)
    }
}
