import Composer

/// Carries verbs out on a composer.
struct ReplayPlayer {
    var engine = ComposerEngine()
    var clock = Duration.zero
    var sent: [ComposedMessage] = []
    var events: [ComposerObservation] = []
    /// Since the last answer.
    var queries: [CompletionQuery] = []
    var issuedQueries: Set<String> = []
    var word: ComposerDocument.Word??
    /// The end of the selection that stays when Shift and an arrow are pressed.
    var anchor: Int?

    /// - Throws: `ReplayError`, and then nothing has changed.
    mutating func perform(_ verb: String, _ argument: Argument) throws -> Answer {
        sent = []
        events = []
        queries = []
        word = nil
        guard let action = Self.verbs[verb] else { throw ReplayError("unknown verb \"\(verb)\"") }
        try action(&self, argument)
        return Answer(engine: engine, sent: sent, queries: queries, events: events, word: word)
    }

    typealias Action = @Sendable (inout ReplayPlayer, Argument) throws -> Void

    /// Every verb of the contract.
    private static let verbs: [String: Action] = textVerbs.merging(inputVerbs) { $1 }
        .merging(modeVerbs) { $1 }.merging(windowVerbs) { $1 }.merging(completionVerbs) { $1 }

    // MARK: Effects

    mutating func handle(_ event: ComposerEvent) {
        take(engine.handle(event, at: clock))
    }

    /// - Returns: whether the composer took the key.
    @discardableResult
    mutating func take(_ effects: [ComposerEffect]) -> Bool {
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

    /// Repeats an event until it has been done so often or changes nothing any more.
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

    /// `{"text", "mentions"?, "selection"?}` and the like.
    static func content(_ fields: Fields) throws -> ComposerContent {
        var content = ComposerContent(text: try fields["text"].string())
        let plain = ComposerDocument(content.text)
        if let mentions = fields.optional("mentions") {
            content.mentions = try mentions.array().map { try mention($0, plain) }
        }
        if let selection = fields.optional("selection") { content.selection = try selection.range(in: plain) }
        return content
    }

    private static func mention(_ argument: Argument, _ document: ComposerDocument) throws
        -> ComposerContent.PlacedMention
    {
        let fields = try argument.object(required: ["id", "text", "range"], optional: ["short", "highlighted"])
        let mention = Mention(
            entityID: try fields["id"].string(), text: try fields["text"].string(),
            short: try fields.optional("short")?.string())
        return ComposerContent.PlacedMention(mention: mention, range: try fields["range"].range(in: document))
    }

    static func attachment(_ fields: Fields) throws -> Attachment {
        let type = try fields["type"].string()
        guard !type.isEmpty else { throw ReplayError.wrongArgument("a media type") }
        return Attachment(
            type: type, name: try fields.optional("name")?.string() ?? "", bytes: try fields["bytes"].count())
    }
}
