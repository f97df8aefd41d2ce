public import Foundation

/// A scroll position: a message, and the distance of its bottom edge from the bottom of the viewport.
public struct ScrollPosition: Hashable, Sendable, Codable {
    public var message: MessageID
    /// In logical pixels; positive below the viewport's bottom edge, negative above it.
    public var offset: Double

    public init(message: MessageID, offset: Double) {
        self.message = message
        self.offset = offset
    }
}

/// What to show in a timeline.
public enum TimelineTarget: Hashable, Sendable {
    case message(MessageID)
    /// The first message sent at this time or later, or else the newest.
    case date(Date)
}
