import ChatCore
import JSONReading

/// The verifications between the user's devices that this device does not know, as after a restart. They are canceled:
/// the other side would wait until it times out.
struct UnknownVerifications {
    /// What cancels one of them.
    struct Cancellation {
        let content: JSONValue
        /// Who waits; `nil` if the message does not say which of the user's devices that is. Then all get the
        /// cancellation, which means nothing to the others.
        let device: ExactText?
    }

    private static let maxCanceled = 64
    /// The kinds of messages whose sender waits for an answer.
    private static let answered: Set<String> = ["ready", "start", "accept", "key", "mac"]

    /// By their transactions.
    private var canceled: Set<ExactText> = []

    /// Cancels a verification.
    /// - Parameters:
    ///   - kind: The type of the message that belongs to it, without ``VerificationFlow/prefix``.
    ///   - content: The content of that message.
    /// - Returns: `nil` if nobody waits for an answer, or if it was canceled before or is one of too many.
    mutating func cancel(_ transaction: ExactText, after kind: String, _ content: JSONValue) -> Cancellation? {
        guard Self.answered.contains(kind), canceled.count < Self.maxCanceled, canceled.insert(transaction).inserted
        else { return nil }
        let code: JSONValue = "m.unknown_transaction"
        return Cancellation(
            content: ["transaction_id": .string(transaction.text), "code": code, "reason": code],
            device: content["from_device"]?.exactText)
    }
}
