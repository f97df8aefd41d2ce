/// What is put to a message after it was said. What a backend can't do is not among its ``BackendCapabilities`` and throws
/// ``ChatError/notPermitted``.
public protocol AnnotationService: Sendable {
    /// Puts one's own reaction under a message or takes it away. One that is there already stays as it is.
    /// - Parameter text: see ``ChatLimits/isValidReaction(_:)``.
    /// - Throws: ``ChatError/notFound`` if there is no such message or it was deleted, ``ChatError/invalidMessage``
    ///   for a text that is no reaction, or a storage error.
    func react(_ text: String, isAdded: Bool, to message: MessageID, in room: RoomID) async throws
    /// What the message said before, oldest first; empty if it was never edited.
    /// - Throws: ``ChatError/notFound``, or a storage error.
    func revisions(of message: MessageID, in room: RoomID) async throws -> [MessageRevision]
}

extension AnnotationService {
    public func react(_ text: String, isAdded: Bool, to message: MessageID, in room: RoomID) async throws {
        throw ChatError.notPermitted
    }
    public func revisions(of message: MessageID, in room: RoomID) async throws -> [MessageRevision] {
        throw ChatError.notPermitted
    }
}

extension ChatLimits {
    /// The longest reaction, in characters.
    public static let reactionLength = 24

    /// Whether this can be put under a message: an emoji, or a short text on one line with nothing around it.
    public static func isValidReaction(_ text: String) -> Bool {
        guard (1...reactionLength).contains(text.count), text.utf8.count <= 256,
            let first = text.first, let last = text.last
        else { return false }
        return !first.isWhitespace && !last.isWhitespace && !text.contains(where: \.isNewline)
    }
}
