/// A range of the text that means something: a mention, a style or the place of a picture.
public struct Span: Identifiable, Hashable, Sendable, Codable {
    /// Unique in its document for as long as the document lives, undo included.
    public struct ID: Hashable, Sendable, Codable, RawRepresentable {
        public let rawValue: UInt64

        public init(rawValue: UInt64) {
            self.rawValue = rawValue
        }
    }

    public enum Content: Hashable, Sendable, Codable {
        case mention(Mention)
        case style(TextStyle)
        /// A picture that stands in the text, by its attachment's source; its character is ``imageCharacter`` (MIB-19).
        case picture(String)
    }

    /// What stands in the text for a picture: U+FFFC, the object replacement character.
    public static let imageCharacter = "\u{FFFC}"

    public let id: ID
    public internal(set) var range: TextRange
    public internal(set) var content: Content

    /// The mention that the span marks, if it marks one.
    public var mention: Mention? {
        if case .mention(let mention) = content { mention } else { nil }
    }

    /// The source of the picture that the span places, if it places one.
    public var imageSource: String? {
        if case .picture(let source) = content { source } else { nil }
    }

    /// The style that the span gives, if it gives one.
    public var style: TextStyle? {
        if case .style(let style) = content { style } else { nil }
    }
}

/// Somebody or something named in the text, as one unit (HKW-36).
///
/// The text under a mention's span always equals ``text``.
public struct Mention: Hashable, Sendable, Codable {
    /// Whom or what it means, whatever its text says.
    public var target: MentionTarget
    /// What stands in the text.
    public var text: String
    /// A shorter form that Backspace may leave, if the entity has one (HKW-58).
    public var short: String?

    public init(_ target: MentionTarget, text: String, short: String? = nil) {
        self.target = target
        self.text = text
        self.short = short
    }

    /// The entity's identifier in the host's world.
    public var entityID: String { target.id }
}
