import ChatCore
import ChatStore
import Foundation

/// Appends to timelines and publishes what it stored. To be called through the gate.
struct TimelineWriter: Sendable {
    let store: ChatStore
    let timelines: TimelineFeeds
    let rooms: RoomListFeed
    let now: @Sendable () -> Date
    let makeID: @Sendable () -> String

    /// Appends a plain text.
    func append(
        _ text: String, by sender: MemberID, replyTo message: MessageID? = nil, to room: RoomID
    ) async throws {
        let new = NewMessage(
            id: MessageID(makeID()), sender: sender, text: text, sentAt: now(), replyTo: message)
        timelines.publish(.changed([try await store.append(new, to: room).message]), in: room)
        rooms.refresh(room)
    }

    func react(_ text: String, by sender: MemberID, to message: MessageID, in room: RoomID) async throws {
        let changed = try await store.setReaction(text, isAdded: true, to: message, in: room, by: sender, at: now())
        if let changed { timelines.publish(.changed([changed]), in: room) }
    }

    /// Adds a room event, by the user.
    func note(_ event: RoomEvent, in room: RoomID) async throws {
        let new = NewMessage(
            id: MessageID(makeID()), sender: LocalBackend.ownUserID, event: event, sentAt: now())
        timelines.publish(.changed([try await store.append(new, to: room).message]), in: room)
    }
}
