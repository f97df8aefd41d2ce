import Composer

/// Executes verbs on a composer.
struct ReplayPlayer {
    var engine = ComposerEngine()
    var clock = Duration.zero
    var sent: [ComposedMessage] = []
    var events: [ComposerObservation] = []
    /// Since the last response.
    var queries: [CompletionQuery] = []
    var issuedQueries: Set<String> = []
    var word: ComposerDocument.Word??
    /// The fixed end of the selection while extending it with Shift and the arrow keys.
    var anchor: Int?

    /// - Throws: `ReplayError`, with nothing changed.
    mutating func perform(_ verb: String, _ argument: Argument) throws -> ReplayResponse {
        sent = []
        events = []
        queries = []
        word = nil
        guard let action = Self.verbs[verb] else { throw ReplayError("unknown verb \"\(verb)\"") }
        try action(&self, argument)
        return ReplayResponse(engine: engine, sent: sent, queries: queries, events: events, word: word)
    }

    typealias Action = @Sendable (inout ReplayPlayer, Argument) throws -> Void

    /// All verbs.
    private static let verbs: [String: Action] = textVerbs.merging(inputVerbs) { $1 }
        .merging(modeVerbs) { $1 }.merging(windowVerbs) { $1 }.merging(completionVerbs) { $1 }

    // MARK: Effects

    mutating func handle(_ event: ComposerEvent) {
        record(engine.handle(event, at: clock))
    }

    /// - Returns: whether the composer handled the key.
    @discardableResult
    mutating func record(_ effects: [ComposerEffect]) -> Bool {
        var keyHandled = false
        for effect in effects {
            switch effect {
            case .send(let message), .commitEdit(_, let message): sent.append(message)
            case .observed(let observation): events.append(observation)
            case .keyHandled: keyHandled = true
            case .completion(.query(let query)):
                queries.append(query)
                issuedQueries.insert(query.id)
            default: break
            }
        }
        return keyHandled
    }

    /// Repeats an event `count` times, or until it changes nothing.
    mutating func repeatEvent(_ event: ComposerEvent, _ count: Int) {
        for _ in 0..<count {
            let before = engine.state
            handle(event)
            if engine.state == before { break }
        }
    }

    // MARK: Arguments

    func document(checking argument: Argument) throws -> TextRange {
        try argument.range(in: engine.document)
    }

    /// Parses `{"text", "mentions"?, "selection"?}` and the like. Ignores mentions whose text differs from their range.
    static func content(_ fields: Fields) throws -> (written: WrittenText, selection: TextRange?) {
        let plain = ComposerDocument(try fields["text"].string())
        var marks: [WrittenText.Mark] = []
        for argument in try fields.optional("mentions")?.array() ?? [] {
            guard let mark = try mention(argument, plain) else { continue }
            if WrittenText(plain.text, marks: marks + [mark]) != nil { marks.append(mark) }
        }
        return (
            WrittenText(plain.text, marks: marks) ?? WrittenText(plain.text),
            try fields.optional("selection")?.range(in: plain)
        )
    }

    private static func mention(_ argument: Argument, _ document: ComposerDocument) throws -> WrittenText.Mark? {
        let fields = try argument.object(required: ["id", "text", "range"], optional: ["short", "highlighted"])
        let text = try fields["text"].string()
        let short = try fields.optional("short")?.string()
        let id = try fields["id"].string()
        let range = try fields["range"].range(in: document)
        guard document.text(in: range).unicodeScalars.elementsEqual(text.unicodeScalars) else { return nil }
        return WrittenText.Mark(.mention(.custom(id)), over: range, short: short)
    }

    static func attachment(_ fields: Fields) throws -> Attachment {
        let type = try fields["type"].string()
        guard !type.isEmpty else { throw ReplayError.wrongArgument("a media type") }
        return Attachment(
            type: type, name: try fields.optional("name")?.string() ?? "", bytes: try fields["bytes"].count())
    }
}
