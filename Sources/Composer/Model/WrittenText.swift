/// A text as its author wrote it, with its marks: the canonical form from the composer to the store, the outbox and
/// back. Other forms (HTML, plain text, users to notify) are derived on demand and never stored in its place.
public struct WrittenText: Hashable, Sendable, Codable {
    /// The syntax of ``source``.
    public enum Syntax: String, Hashable, Sendable, Codable {
        /// Markdown, except for the text of mentions, which is literal.
        case markdown
        /// Literal text.
        case plain
    }

    /// The meaning of a range of the text.
    public struct Mark: Hashable, Sendable, Codable {
        public enum Content: Hashable, Sendable, Codable {
            case mention(MentionTarget)
            case style(TextStyle)
            /// The position of an inline file, by its source; its character is ``Span/imageCharacter``.
            case file(String)
        }

        /// In ``WrittenText/source``, non-empty and on grapheme cluster boundaries.
        public var range: TextRange
        public var content: Content
        /// A shorter form that Backspace reduces a mention to (HKW-58). Only used while composing; `nil` in received
        /// messages.
        public var short: String?

        public init(_ content: Content, over range: TextRange, short: String? = nil) {
            self.range = range
            self.content = content
            self.short = short
        }

        public var mention: MentionTarget? {
            if case .mention(let target) = content { target } else { nil }
        }
    }

    public let source: String
    public let syntax: Syntax
    /// The marks, sorted by range. Mentions and files don't overlap each other; styles may overlap anything.
    public let marks: [Mark]

    /// Creates a text without marks.
    public init(_ source: String = "", syntax: Syntax = .markdown) {
        self.source = source
        self.syntax = syntax
        marks = []
    }

    /// Creates a text with mentions, located by searching for their texts in order. Drops a mention whose text isn't
    /// found after the previous one or doesn't lie on grapheme cluster boundaries.
    public init(_ source: String, mentioning mentions: [Mention], syntax: Syntax = .markdown) {
        var document = ComposerDocument(source)
        document.syntax = syntax
        let source = document.text
        var start = source.startIndex
        for mention in mentions {
            guard !mention.text.isEmpty, let foundRange = source[start...].firstRange(of: mention.text) else {
                continue
            }
            let location = source.utf16.distance(from: source.startIndex, to: foundRange.lowerBound)
            _ = document.addMention(mention, over: TextRange(location: location, length: mention.text.utf16.count))
            start = foundRange.upperBound
        }
        self.init(of: document)
    }

    /// Creates a text from a document, whose spans are valid by construction.
    init(of document: ComposerDocument) {
        source = document.text
        syntax = document.syntax
        marks = Self.ordered(
            document.spans.map { span in
                switch span.content {
                case .mention(let mention): Mark(.mention(mention.target), over: span.range, short: mention.short)
                case .style(let style): Mark(.style(style), over: span.range)
                case .picture(let source): Mark(.file(source), over: span.range)
                }
            })
    }

    /// After an edit, spans with the same start may be in another order than parsing would produce.
    private static func ordered(_ marks: [Mark]) -> [Mark] {
        marks.sorted { ($0.range.location, $1.range.length) < ($1.range.location, $0.range.length) }
    }

    /// Creates a text with marks.
    ///
    /// - Returns: `nil` unless all marks fit the text: non-empty, within it and on grapheme cluster boundaries, no
    ///   overlap of mentions and files, and each file on its placeholder character.
    public init?(_ source: String, syntax: Syntax = .markdown, marks: [Mark]) {
        let marks = Self.ordered(marks)
        guard Self.fit(marks, source) else { return nil }
        self.source = source
        self.syntax = syntax
        self.marks = marks
    }

    /// Throws if the marks don't fit the text, as stored rows and clipboards are untrusted.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let source = try container.decode(String.self, forKey: .source)
        let syntax = try container.decode(Syntax.self, forKey: .syntax)
        let marks = try container.decodeIfPresent([Mark].self, forKey: .marks) ?? []
        guard let text = WrittenText(source, syntax: syntax, marks: marks) else {
            throw DecodingError.dataCorruptedError(
                forKey: .marks, in: container, debugDescription: "a mark does not fit the text")
        }
        self = text
    }

    /// The text and target of each mention, in order.
    public var mentions: [(text: String, target: MentionTarget)] {
        let units = Array(source.utf16)
        return marks.compactMap { mark in
            mark.mention.map { (String(decoding: units[mark.range.location..<mark.range.end], as: UTF16.self), $0) }
        }
    }

    /// Whether the text is empty or only contains white space.
    public var isBlank: Bool { source.allSatisfy(\.isWhitespace) }

    private static func fit(_ marks: [Mark], _ source: String) -> Bool {
        guard !marks.isEmpty else { return true }
        let document = ComposerDocument(source)
        // Documents drop NUL, which would shift the offsets.
        guard document.length == source.utf16.count else { return false }
        var end = 0
        for mark in marks {
            guard !mark.range.isEmpty, document.aligned(mark.range) == mark.range else { return false }
            if case .style = mark.content { continue }
            guard mark.range.location >= end else { return false }
            if case .file = mark.content, document.text(in: mark.range) != Span.imageCharacter { return false }
            end = mark.range.end
        }
        return true
    }
}

extension WrittenText {
    /// The first line, at most 200 characters, with its mentions.
    package var firstLine: WrittenText {
        let line = source.prefix { !$0.isNewline }.prefix(200)
        return ComposerDocument(self).written(in: TextRange(location: 0, length: line.utf16.count))
    }
}
