/// A service error, classified by what the user can do about it.
public enum ChatError: Error, Equatable, Sendable {
    /// The room, member or message does not exist, or no longer exists.
    case notFound
    /// Not allowed, such as editing someone else's message.
    case notPermitted
    /// The room's name is empty or longer than ``ChatLimits/roomNameLength`` characters.
    case invalidName
    /// The user's name is empty or longer than ``ChatLimits/displayNameLength`` characters.
    case invalidDisplayName
    /// The room address has characters that it may not have, or too many; see ``RoomRequest/isValidAddress(_:)``.
    case invalidAddress
    /// The topic is longer than this number of characters.
    case topicTooLong(limit: Int)
    /// The message has neither text nor attachments.
    case emptyMessage
    /// The message is larger than ``ChatLimits/messageBytes``, or than its backend allows.
    case messageTooLong
    /// The message has more than this number of attachments.
    case tooManyAttachments(limit: Int)
    /// A message of this kind, such as an emote, has no attachments.
    case attachmentsNotPermitted
    /// The room is a space, which has no messages.
    case spaceUnsupported
    /// See ``ChatLimits/isValidReaction(_:)``.
    case invalidReaction
    /// The account has to encrypt and cannot on this device.
    case encryptionUnavailable
    /// The file does not exist, is not a regular file, or is not readable.
    case unreadableFile
    /// No application on this computer opens the file.
    case noApplication
    /// The file is larger than this number of bytes, so it cannot be sent.
    case fileTooLarge(limit: Int)
    /// The file on the server is larger than this number of bytes, so it was not downloaded.
    case downloadTooLarge(limit: Int)
    /// The server is unreachable; try again later.
    case unreachable
    /// The session is no longer valid; the user has to sign in again.
    case signedOut
    /// The server limits the rate of requests.
    case busy
    /// The server rejected the request, with a reason in its own words.
    case rejected(reason: String)
    /// The server's answer violates its protocol or a limit. The reason is technical and contains no message text.
    case unexpectedAnswer(reason: String)
    /// The disk is full; nothing was changed.
    case diskFull
    /// Any other error of reading or writing on this computer. The reason is technical and contains no message text.
    case storage(reason: String)
}

extension ChatError {
    /// Wraps any error in one that can be displayed.
    public init(_ error: any Error) {
        self = error as? ChatError ?? .storage(reason: String(describing: error))
    }
}

/// Size limits that services enforce.
public enum ChatLimits {
    /// The maximum length of a room's name, in grapheme clusters.
    public static let roomNameLength = 100
    /// The maximum length of the user's display name, in grapheme clusters.
    public static let displayNameLength = 100
    /// The maximum length of a room's topic, in grapheme clusters.
    public static let topicLength = 500
    /// The maximum size of a message, in UTF-8 bytes.
    public static let messageBytes = 4 * 1024 * 1024
}
