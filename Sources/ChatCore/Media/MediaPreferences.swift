/// Which media load and play automatically.
public struct MediaPreferences: Equatable, Sendable {
    /// The kinds of media with a setting of their own.
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
        /// Loaded automatically up to ``smallBytes``.
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

    /// Whether media load when they are shown. Local files always do; media of unknown size count as large.
    public func loadsAutomatically(_ media: MediaReference) -> Bool {
        guard !media.isOnlyHere else { return true }
        return switch choices[Kind(media)] {
        case .always: true
        case .small: media.bytes.map { $0 <= smallBytes } ?? false
        case .never, nil: false
        }
    }

    /// Whether a video's still image loads when the video is shown. It counts as a small image.
    public var loadsPosters: Bool { choices[.images, default: .never] != .never }
}
