public import Foundation

/// How far a member has read a room.
public struct ReadReceipt: Equatable, Sendable {
    public var member: MemberID
    /// The newest message that the member has read.
    public var message: MessageID
    public var readAt: Date

    public init(member: MemberID, message: MessageID, readAt: Date) {
        self.member = member
        self.message = message
        self.readAt = readAt
    }
}
