import ChatCore

/// The observers of each room's timeline, and who is typing.
final class TimelineFeeds: Sendable {
    private let feeds = RoomFeeds<[MemberID]>(isEmpty: { $0.isEmpty })

    /// Whether all streams have ended.
    var isFinished: Bool { feeds.isFinished }

    func hasObservers(of room: RoomID) -> Bool { feeds.hasObservers(of: room) }

    /// Adds an observer, which receives `opening`, who is typing, and then each update.
    func add(_ continuation: AsyncStream<TimelineUpdate>.Continuation, to room: RoomID, opening: TimelineUpdate) {
        feeds.add(continuation, to: room, remembering: []) { typing in
            typing.isEmpty ? [opening] : [opening, .typing(typing)]
        }
    }

    func publish(_ update: TimelineUpdate, in room: RoomID) { feeds.publish(update, in: room) }

    /// Publishes who is typing, if that has changed.
    func setTyping(_ members: [MemberID], in room: RoomID) {
        feeds.change(room, remembering: []) { typing in
            guard typing != members else { return nil }
            typing = members
            return .typing(members)
        }
    }

    /// Ends the streams of a room that no longer exists.
    func close(_ room: RoomID) { feeds.end(room, with: .closed) }

    /// Ends all streams, including any that begin later.
    func finish() { feeds.finish() }
}
