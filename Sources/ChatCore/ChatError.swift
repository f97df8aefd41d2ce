/// What a service could not do, in terms that a user can act on.
public enum ChatError: Error, Equatable, Sendable {
    /// No such room, member or message (any more).
    case notFound
    /// The room or member does not allow it, for example to edit someone else's message.
    case notPermitted
    /// A name that is empty, or longer than ``ChatLimits/roomNameLength`` characters.
    case invalidName
    /// A message without text, or over ``ChatLimits/messageBytes``.
    case invalidMessage
    /// A file that is not there, is no file, or may not be read.
    case unreadableFile
    /// A file of more than this many bytes.
    case fileTooLarge(limit: Int)
    /// The server does not answer: to be tried again.
    case unreachable
    /// The server does not know the session any more: the user is to sign in again first.
    case signedOut
    /// The server asks for patience.
    case busy
    /// The server does not do it, and says why in words of its own.
    case rejected(reason: String)
    /// The disk is full: nothing was changed.
    case diskFull
    /// The storage failed otherwise. The reason is technical and holds no message text.
    case storage(reason: String)
}

/// Sizes beyond which services refuse.
public enum ChatLimits {
    /// Characters (grapheme clusters) in a room's name.
    public static let roomNameLength = 100
    /// Characters (grapheme clusters) in a room's topic.
    public static let topicLength = 500
    /// UTF-8 bytes in one message.
    public static let messageBytes = 4 * 1024 * 1024
}
