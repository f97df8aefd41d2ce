/// Why a message, or a change of one, was not sent and waits to be retried or discarded.
public enum SendFailure: Hashable, Sendable {
    /// The identity of a member has changed since the user verified it.
    case changedIdentity
    /// The user's own identity was replaced, and the new one has not confirmed this device.
    case ownIdentityReplaced
    case notPermitted
    /// The user has not accepted the terms of the server.
    case termsNotAccepted
    /// The user is not in the room any more.
    case notInRoom
    /// The room, or the message that is changed, does not exist any more.
    case notFound
    /// The message that is changed is not available, though it may exist.
    case messageUnavailable
    /// See ``ChatError/messageTooLong``.
    case messageTooLong
    /// The server accepts nothing of this size, such as a file.
    case tooLarge
    /// See ``ChatError/unreadableFile``.
    case unreadableFile
    /// See ``ChatError/encryptionUnavailable``.
    case encryptionUnavailable
    /// It is not known whether or how the room is encrypted.
    case encryptionUnknown
    /// An earlier attempt, or a former device of the account, may have sent it.
    case mayBeSent
    /// The server rejected it. The reason is technical and contains no message text.
    case rejected(reason: String)
}
