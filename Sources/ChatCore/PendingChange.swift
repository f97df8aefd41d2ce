/// What the user did to a message and the backend has not carried out.
public struct PendingChange: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        case edit, deletion, reaction
    }

    /// By which it is tried again or given up.
    public var transaction: TransactionID
    public var kind: Kind
    /// Whether the backend refused it for good: the message is then shown without it.
    public var isRejected: Bool

    public init(transaction: TransactionID, kind: Kind, isRejected: Bool = false) {
        self.transaction = transaction
        self.kind = kind
        self.isRejected = isRejected
    }
}
