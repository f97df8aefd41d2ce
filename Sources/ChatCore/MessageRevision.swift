public import Foundation

/// What a message said before an edit.
public struct MessageRevision: Equatable, Sendable {
    public var text: String
    public var formattedText: String?
    /// When that was said: on sending, or by an edit.
    public var writtenAt: Date

    public init(text: String, formattedText: String? = nil, writtenAt: Date) {
        self.text = text
        self.formattedText = formattedText
        self.writtenAt = writtenAt
    }
}
