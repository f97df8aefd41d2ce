/// A range of the text with a meaning: a mention, a style or an inline image.
public struct Span: Identifiable, Hashable, Sendable, Codable {
    /// Unique within a document for its lifetime, across undo and redo.
    public struct ID: Hashable, Sendable, Codable, RawRepresentable {
        public let rawValue: UInt64

        public init(rawValue: UInt64) {
            self.rawValue = rawValue
        }
    }

    public enum Content: Hashable, Sendable, Codable {
        case mention(Mention)
        case style(TextStyle)
        /// An inline image by the source of its attachment; its character is ``imageCharacter`` (MIB-19).
        case picture(String)
    }

    /// The placeholder for an inline image: U+FFFC OBJECT REPLACEMENT CHARACTER.
    public static let imageCharacter = "\u{FFFC}"

    public let id: ID
    public internal(set) var range: TextRange
    public internal(set) var content: Content

    /// The mention, or `nil` for other spans.
    public var mention: Mention? {
        if case .mention(let mention) = content { mention } else { nil }
    }

    /// The attachment source of the image, or `nil` for other spans.
    public var imageSource: String? {
        if case .picture(let source) = content { source } else { nil }
    }

    /// The style, or `nil` for other spans.
    public var style: TextStyle? {
        if case .style(let style) = content { style } else { nil }
    }
}

/// A user, room or other entity named in the text, edited as one unit (HKW-36).
///
/// The text that the span covers always equals ``text``.
public struct Mention: Hashable, Sendable, Codable {
    /// The entity that the mention refers to, independent of its text.
    public var target: MentionTarget
    /// The text that the span covers.
    public var text: String
    /// A shorter form that Backspace reduces the mention to, or `nil` if the entity has none (HKW-58).
    public var short: String?

    public init(_ target: MentionTarget, text: String, short: String? = nil) {
        self.target = target
        self.text = text
        self.short = short
    }

    /// The host's identifier of the entity.
    public var entityID: String { target.id }
}
