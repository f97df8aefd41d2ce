public import Composer

/// A change of a message by the user that the backend has not applied.
public struct PendingChange: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        case edit, deletion, reaction
    }

    /// The transaction for retrying or discarding the change.
    public var transaction: TransactionID
    public var kind: Kind
    /// Whether the backend permanently rejected the change: the message is then shown without it.
    public var isRejected: Bool
    /// The text of the message's latest edit, if the backend has rejected that: it is shown nowhere else, and another edit
    /// takes its place.
    public var rejectedText: WrittenText?
    /// Why the backend rejected the change; `nil` if it did not, or if that is all that is known.
    public var failure: SendFailure?

    public init(
        transaction: TransactionID, kind: Kind, isRejected: Bool = false, rejectedText: WrittenText? = nil,
        failure: SendFailure? = nil
    ) {
        self.transaction = transaction
        self.kind = kind
        self.isRejected = isRejected
        self.rejectedText = rejectedText
        self.failure = failure
    }
}
