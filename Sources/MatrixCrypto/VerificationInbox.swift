import ChatCore
import JSONReading

/// What has come from the other side of a verification.
struct VerificationInbox {
    /// A message, by which a repetition is recognized.
    enum Message: Equatable {
        case event(ExactText)
        case message(String, JSONValue)
    }

    /// How many messages are processed; no genuine verification has more.
    private static let maxReceived = 64
    /// How many answers wait for the response to the request.
    private static let maxEarly = 16

    private var received: [Message] = []
    /// Messages in the room that may be answers to the request, until its event's ID is known.
    private var early: [VerificationEvent] = []

    /// Notes a message. The server repeats messages, for example after a lost sync position.
    /// - Returns: Whether it has to be processed.
    mutating func isNew(_ message: Message) -> Bool {
        guard received.count < Self.maxReceived, !received.contains(message) else { return false }
        received.append(message)
        return true
    }

    mutating func hold(_ event: VerificationEvent) {
        if early.count < Self.maxEarly { early.append(event) }
    }

    mutating func releaseEarly() -> [VerificationEvent] {
        defer { early = [] }
        return early
    }
}
