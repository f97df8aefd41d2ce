/// What is loaded and played in messages without being asked for.
public struct MediaPreferences: Equatable, Sendable {
    /// The kinds of media for which that is chosen.
    public enum Kind: String, CaseIterable, Sendable {
        case images, animations, videos, audio, files

        public init(_ media: MediaReference) {
            switch (media.messageKind, media.type) {
            case (.image, "image/gif"), (.image, "image/apng"): self = .animations
            // SVG is a file to open, not an image to show.
            case (.image, let type): self = type.hasPrefix("image/svg") ? .files : .images
            case (.video, _): self = .videos
            case (.audio, _): self = .audio
            default: self = .files
            }
        }
    }

    public enum Choice: String, CaseIterable, Sendable {
        case always
        /// Up to ``smallBytes``.
        case small
        /// When the user selects it.
        case never
    }

    /// Kinds without a choice are never loaded.
    public var choices: [Kind: Choice]
    /// The size up to which media count as small, in bytes.
    public var smallBytes: Int
    /// Whether animated images play, if the desktop enables animations.
    public var playsAnimations: Bool

    public init(
        choices: [Kind: Choice] = [.images: .always, .animations: .always], smallBytes: Int = 5_000_000,
        playsAnimations: Bool = true
    ) {
        self.choices = choices
        self.smallBytes = smallBytes
        self.playsAnimations = playsAnimations
    }

    /// Whether media are loaded when they are shown. What is on this computer always is; what the sender did not tell the
    /// size of counts as large.
    public func loadsAutomatically(_ media: MediaReference) -> Bool {
        guard !media.isOnlyHere else { return true }
        return switch choices[Kind(media)] {
        case .always: true
        case .small: media.bytes.map { $0 <= smallBytes } ?? false
        case .never, nil: false
        }
    }

    /// Whether the still image of a video is loaded when the video is shown. It is small, and an image.
    public var loadsPosters: Bool { choices[.images, default: .never] != .never }
}
