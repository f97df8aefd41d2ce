import ChatCore
import Composer

/// Messages that cannot be stored because the service does not know their room: the user has left it, or its list of
/// rooms is behind.
final class RejectedMessages {
    /// Those since the last message that the service accepted.
    private var messages: [ComposedMessage] = []
    /// Set once the user has left the room.
    private var onUnsent: ((String) -> Void)?

    func noteAccepted() { messages = [] }

    func noteFailure(of message: ComposedMessage, because error: ChatError) {
        if let onUnsent {
            onUnsent(message.words)
        } else if error == .notFound {
            messages.removeAll { $0.raw == message.raw && $0.attachments == message.attachments }
            messages.append(message)
        }
    }

    /// The user has left the room.
    ///
    /// - Parameters:
    ///   - draft: what the composer holds. A message that the user has changed since it failed is a draft.
    ///   - onUnsent: receives the text of each message that was sent and cannot be stored any more.
    func leaveRoom(with draft: ComposerDraft, onUnsent: @escaping (String) -> Void) {
        self.onUnsent = onUnsent
        // These failed before the room list said that the room is gone.
        let contents = draft.contents + (draft.unsent ?? [])
        for message in messages where contents.contains(where: { $0.holds(message) }) { onUnsent(message.words) }
    }
}

extension ComposedMessage {
    /// The text, or else the names of the files.
    fileprivate var words: String {
        text.source.isEmpty ? attachments.map(\.name).joined(separator: "\n") : text.source
    }
}

extension ComposerDraft.Content {
    /// Whether this is what was sent, unchanged. Images within the text are among the attachments.
    fileprivate func holds(_ message: ComposedMessage) -> Bool {
        message.attachments.isEmpty ? written == message.raw : attachments == message.attachments
    }
}
