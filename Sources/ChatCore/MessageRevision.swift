public import Foundation

/// What a message said before an edit.
public struct MessageRevision: Equatable, Sendable {
    public var wording: Wording
    /// When that was said: on sending, or by an edit.
    public var writtenAt: Date

    public init(_ wording: Wording, writtenAt: Date) {
        self.wording = wording
        self.writtenAt = writtenAt
    }

    public var text: String { wording.text }
}
