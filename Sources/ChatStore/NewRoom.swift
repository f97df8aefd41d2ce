public import ChatCore
public import Foundation

/// A room on its way into the store, with those who are in it and what was said so far, oldest first.
public struct NewRoom: Equatable, Sendable {
    public var room: Room
    public var members: [Member]
    public var messages: [NewMessage]
    /// The room's last activity as long as it has no message.
    public var createdAt: Date
    /// Settings of the room, by name.
    public var settings: [String: String]

    public init(
        room: Room, members: [Member], messages: [NewMessage] = [], createdAt: Date, settings: [String: String] = [:]
    ) {
        self.room = room
        self.members = members
        self.messages = messages
        self.createdAt = createdAt
        self.settings = settings
    }
}
