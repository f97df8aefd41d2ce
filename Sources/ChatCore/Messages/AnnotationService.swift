/// Reactions and edit history. Methods whose feature is not in ``BackendCapabilities`` throw
/// ``ChatError/notPermitted``.
public protocol AnnotationService: Sendable {
    /// Adds or removes a reaction of the user. Adding an existing one has no effect.
    /// - Parameter text: See ``ChatLimits/isValidReaction(_:)``.
    /// - Throws: ``ChatError/notFound`` if there is no such message or it was deleted, ``ChatError/invalidReaction``,
    ///   or a storage error.
    func react(_ text: String, isAdded: Bool, to message: MessageID, in room: RoomID) async throws
    /// Returns the earlier versions of a message, oldest first; empty if it was never edited.
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
    /// The maximum length of a reaction, in characters.
    public static let reactionLength = 24

    /// Whether a text is a valid reaction: an emoji, or a short single line without surrounding white space.
    public static func isValidReaction(_ text: String) -> Bool {
        guard (1...reactionLength).contains(text.count), text.utf8.count <= 256,
            let first = text.first, let last = text.last
        else { return false }
        return !first.isWhitespace && !last.isWhitespace && !text.contains(where: \.isNewline)
    }

    /// - Throws: ``ChatError/invalidReaction`` unless ``isValidReaction(_:)``.
    public static func checkReaction(_ text: String) throws(ChatError) {
        guard isValidReaction(text) else { throw .invalidReaction }
    }
}
