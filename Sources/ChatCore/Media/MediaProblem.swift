/// Why a file of a message is not shown or played.
public enum MediaProblem: Hashable, Sendable {
    case unsupportedImageFormat
    case imageTooLarge
    case damagedImage
    /// Decoding exceeded its limits, or no decoder could be started.
    case undisplayableImage
    /// The content could not be loaded.
    case missingImage(canRetry: Bool)
    /// The user's preferences leave it to the user to load the content.
    case notLoaded(bytes: Int?)
    case unplayable
}
