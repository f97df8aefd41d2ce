import Composer

/// Accessors for completion tests.
extension ComposerScript {
    var completion: CompletionState? { state.completion }

    /// The queries issued by the last event.
    var queries: [CompletionQuery] {
        effects.compactMap { if case .completion(.query(let query)) = $0 { query } else { nil } }
    }

    /// The IDs of the queries canceled by the last event.
    var cancelled: [String] {
        effects.compactMap { if case .completion(.cancel(let id)) = $0 { id } else { nil } }
    }

    /// Creates a focused composer with the caret at `|`.
    init(_ marked: String, _ configuration: ComposerConfiguration = ComposerConfiguration()) {
        self.init(configuration)
        send(.focus(true))
        let parts = marked.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
        load(parts.joined(), select: .caret(parts[0].utf16.count))
    }

    /// The text with `|` at the caret.
    var marked: String {
        let caret = state.selection.location
        let head = engine.document.text(in: TextRange(start: 0, end: caret))
        return head + "|" + engine.document.text(in: TextRange(start: caret, end: state.length))
    }

    /// Advances the clock, so that throttled queries are issued.
    mutating func wait(_ time: Duration = .milliseconds(100)) {
        now += time
        send(.connected(true))
    }

    /// Responds to a query, or to the latest one.
    mutating func respond(with names: [String], to id: String? = nil, isFinal: Bool = true) {
        let id = id ?? completion?.openQuery ?? "none"
        let entities = names.map { CompletionEntity(id: "id-\($0)", name: $0) }
        send(.completionResults(query: id, entities, isFinal: isFinal))
    }
}

extension ComposerConfiguration {
    /// A preset with modified completion options.
    static func completing(
        _ preset: Preset = .parlance, _ change: (inout CompletionOptions) -> Void
    ) -> ComposerConfiguration {
        var configuration = ComposerConfiguration.preset(preset)
        change(&configuration.completion)
        return configuration
    }
}
