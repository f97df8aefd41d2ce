public import Foundation

/// Where someone reads in a room: a message and how far its bottom edge is below the viewport's.
public struct ScrollPosition: Hashable, Sendable, Codable {
    public var message: MessageID
    /// In logical pixels; negative if the edge is above the viewport's bottom.
    public var offset: Double

    public init(message: MessageID, offset: Double) {
        self.message = message
        self.offset = offset
    }
}

/// What a stretch of a timeline is asked for by.
public enum TimelineTarget: Hashable, Sendable {
    case message(MessageID)
    /// The first message that was sent then or later; the newest if there is none.
    case date(Date)
}
