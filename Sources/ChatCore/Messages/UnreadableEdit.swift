public import Foundation

/// An edit of a message that could not be read.
public struct UnreadableEdit: Equatable, Sendable {
    public var target: MessageID
    /// Who sent the edit. Only the sender of the message can edit it.
    public var sender: MemberID
    public var sentAt: Date
    public var reason: SealReason

    public init(of target: MessageID, by sender: MemberID, sentAt: Date, reason: SealReason) {
        self.target = target
        self.sender = sender
        self.sentAt = sentAt
        self.reason = reason
    }
}
