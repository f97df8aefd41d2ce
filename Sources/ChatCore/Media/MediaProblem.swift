/// Why a file of a message is not shown or played.
public enum MediaProblem: Hashable, Sendable {
    case unsupportedImageFormat
    case imageTooLarge
    case damagedImage
    /// Decoding exceeded its limits, or no decoder could be started.
    case undisplayableImage
    /// The content could not be loaded.
    case missingImage(canRetry: Bool)
    /// The user's preferences do not load such content automatically.
    case notLoaded(bytes: Int?)
    case unplayable
}
