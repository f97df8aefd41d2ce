public import Foundation

/// A member's read receipt.
public struct ReadReceipt: Equatable, Sendable {
    public var member: MemberID
    /// The last event that the member has read.
    public var message: MessageID
    public var readAt: Date

    public init(member: MemberID, message: MessageID, readAt: Date) {
        self.member = member
        self.message = message
        self.readAt = readAt
    }
}
