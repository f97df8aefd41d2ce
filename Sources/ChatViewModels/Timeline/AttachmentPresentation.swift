public import ChatCore

/// How a row presents an attached file.
public nonisolated enum AttachmentPresentation: Equatable, Sendable {
    /// In a frame of known size.
    case image
    /// A player with a waveform.
    case voiceMessage
    /// A card with a player.
    case player
    /// A file card.
    case file
}

nonisolated extension MediaReference {
    public var presentation: AttachmentPresentation {
        // SVG is active content.
        if isImage && !media.type.hasPrefix("image/svg") { return .image }
        switch messageKind {
        case .audio where media.loudness != nil: return .voiceMessage
        case .audio, .video: return .player
        default: return .file
        }
    }
}
