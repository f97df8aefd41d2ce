public import Foundation

/// An earlier version of an edited message.
public struct MessageRevision: Equatable, Sendable {
    public var wording: Wording
    /// When the version was sent.
    public var writtenAt: Date

    public init(_ wording: Wording, writtenAt: Date) {
        self.wording = wording
        self.writtenAt = writtenAt
    }

    public var text: String { wording.text }
}
