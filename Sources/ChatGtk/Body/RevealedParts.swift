import ChatCore
import ChatViewModels

/// What the user has expanded and revealed in a body.
struct RevealedParts: Equatable {
    /// The numbers of the expanded details in the body.
    var details: Set<Int> = []
    /// The revealed spoilers, as ``BodyText/revealed``, by the number of their text in the body.
    var spoilers: [Int: Set<Int>] = [:]

    var isEmpty: Bool { details.isEmpty && spoilers.isEmpty }
}

/// What the user has expanded and revealed in the messages of a room, whose rows are recycled.
final class RevealedMessages {
    private var entries: [String: (body: MessageBody, parts: RevealedParts)] = [:]

    /// - Parameter body: What is shown of the message. Of a body that an edit has replaced, nothing is revealed any more.
    func parts(of message: MessageItem, in body: MessageBody) -> RevealedParts {
        let key = message.lastingKey
        guard let entry = entries[key] else { return RevealedParts() }
        guard entry.body == body else {
            entries[key] = nil
            return RevealedParts()
        }
        return entry.parts
    }

    func set(_ parts: RevealedParts, of message: MessageItem, in body: MessageBody) {
        entries[message.lastingKey] = parts.isEmpty ? nil : (body, parts)
    }

    func forget() { entries = [:] }
}
