public import ChatCore
public import Foundation

/// A room to be stored, with its members and messages, oldest first.
public struct NewRoom: Equatable, Sendable {
    public var room: Room
    public var members: [Member]
    public var messages: [NewMessage]
    /// The room's last activity until it has a message.
    public var createdAt: Date
    /// The room settings, by name.
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
