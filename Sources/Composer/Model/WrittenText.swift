/// A text as its author wrote it, with what its parts mean: what every layer hands on unchanged, from the composer to the
/// store, the outbox and back into a composer. Forms for others (HTML, plain text, a list of whom to notify) are made of
/// it where they are needed and nowhere kept in its place.
public struct WrittenText: Hashable, Sendable, Codable {
    /// How ``source`` is to be read.
    public enum Syntax: String, Hashable, Sendable, Codable {
        /// As Markdown, but for what a mention covers: a name is text, whatever its characters.
        case markdown
        /// Every character stands for itself.
        case plain
    }

    /// What a range of the text means.
    public struct Mark: Hashable, Sendable, Codable {
        public enum Content: Hashable, Sendable, Codable {
            case mention(MentionTarget)
            case style(TextStyle)
            /// The place of a file, by its source; its character is ``Span/imageCharacter``.
            case file(String)
        }

        /// In ``WrittenText/source``, on boundaries of clusters and not empty.
        public var range: TextRange
        public var content: Content
        /// A shorter form of a mention's text, which Backspace may leave of it (HKW-58). Only who composes needs it: it is
        /// nil in what others wrote.
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
    /// In the order of their ranges. Mentions and files share no unit with each other; styles may lie over anything.
    public let marks: [Mark]

    /// A text in which nothing is marked.
    public init(_ source: String = "", syntax: Syntax = .markdown) {
        self.source = source
        self.syntax = syntax
        marks = []
    }

    /// A text in which each of these mentions stands where its text is found, in their order. One that is not found behind
    /// the one before, or not on boundaries of clusters, is left out.
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

    /// What a document holds fits.
    init(of document: ComposerDocument) {
        source = document.text
        syntax = document.syntax
        marks = document.spans.map { span in
            switch span.content {
            case .mention(let mention): Mark(.mention(mention.target), over: span.range, short: mention.short)
            case .style(let style): Mark(.style(style), over: span.range)
            case .picture(let source): Mark(.file(source), over: span.range)
            }
        }
    }

    /// - Returns: nil unless each mark fits the text: ranges within it, on boundaries of clusters and not empty, no
    ///   mention or file across another, and each file over its character alone.
    public init?(_ source: String, syntax: Syntax = .markdown, marks: [Mark]) {
        let marks = marks.sorted { ($0.range.location, $1.range.length) < ($1.range.location, $0.range.length) }
        guard Self.fit(marks, source) else { return nil }
        self.source = source
        self.syntax = syntax
        self.marks = marks
    }

    /// Throws on marks that do not fit: a row or a clipboard may hold anything.
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

    /// The text and target of each mention, in their order.
    public var mentions: [(text: String, target: MentionTarget)] {
        let units = Array(source.utf16)
        return marks.compactMap { mark in
            mark.mention.map { (String(decoding: units[mark.range.location..<mark.range.end], as: UTF16.self), $0) }
        }
    }

    /// Whether there is nothing to be seen in it.
    public var isBlank: Bool { source.allSatisfy(\.isWhitespace) }

    private static func fit(_ marks: [Mark], _ source: String) -> Bool {
        guard !marks.isEmpty else { return true }
        let document = ComposerDocument(source)
        // A document has no NUL: offsets would no longer be those of the source.
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
