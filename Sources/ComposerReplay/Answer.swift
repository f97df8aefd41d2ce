import Composer

/// The response to a line: the complete state, and the events since the previous response.
struct ReplayResponse {
    let engine: ComposerEngine
    let sent: [ComposedMessage]
    let queries: [CompletionQuery]
    let events: [ComposerObservation]
    /// The result of the verb `word`; `nil` for all other verbs.
    let word: ComposerDocument.Word??

    var json: String {
        let state = engine.state
        var writer = JSONWriter()
        writer.object { writer in
            write("text", &writer) { $0.string(engine.document.text) }
            write("selection", &writer) { $0.range(state.selection) }
            write("preedit", &writer) { $0.string(state.preedit) }
            write("mentions", &writer) {
                $0.array(engine.document.mentions) { writer, span in
                    guard let mention = span.mention else { return }
                    writer.mention(
                        mention.target, mention.text, span.range, isHighlighted: span.id == state.highlightedMention)
                }
            }
            write("completion", &writer) { $0.completion(state.completion) }
            write("queries", &writer) { $0.array(queries) { $0.query($1) } }
            write("sent", &writer) { $0.array(sent) { $0.message($1) } }
            writeModes(state, &writer)
            writeSizes(state, &writer)
            writeRest(state, &writer)
            if let word { write("word", &writer) { $0.word(word) } }
        }
        return writer.text
    }

    private func write(_ key: String, _ writer: inout JSONWriter, _ value: (inout JSONWriter) -> Void) {
        writer.key(key)
        value(&writer)
    }

    private func writeModes(_ state: ComposerState, _ writer: inout JSONWriter) {
        write("mode", &writer) { $0.string(state.editing == nil ? "compose" : "edit") }
        write("editing", &writer) { $0.string(state.editing) }
        write("canSend", &writer) { $0.bool(state.canSend) }
        write("canSave", &writer) { $0.bool(state.canSave) }
    }

    private func writeSizes(_ state: ComposerState, _ writer: inout JSONWriter) {
        write("counter", &writer) { writer in
            guard let counter = state.counter else { return writer.null() }
            writer.object { writer in
                write("text", &writer) { $0.string(counter.text) }
                write("exceeded", &writer) { $0.bool(counter.exceeded) }
            }
        }
        write("lines", &writer) { $0.integer(state.lines) }
        write("height", &writer) { $0.integer(state.height) }
        write("isExpanding", &writer) { $0.bool(state.isExpanding) }
    }

    private func writeRest(_ state: ComposerState, _ writer: inout JSONWriter) {
        write("formatting", &writer) { $0.array(state.formatting) { $0.string($1) } }
        write("typing", &writer) { $0.string(state.typing) }
        write("attachments", &writer) { $0.array(state.attachments) { $0.attachment($1) } }
        write("canUndo", &writer) { $0.bool(state.canUndo) }
        write("canRedo", &writer) { $0.bool(state.canRedo) }
        write("isHidden", &writer) { $0.bool(state.isHidden) }
        write("isFocused", &writer) { $0.bool(state.isFocused) }
        write("events", &writer) { $0.array(events) { $0.string($1.rawValue) } }
    }
}

extension JSONWriter {
    fileprivate mutating func range(_ range: TextRange) {
        array([range.location, range.length]) { $0.integer($1) }
    }

    fileprivate mutating func mention(
        _ target: MentionTarget, _ text: String, _ range: TextRange, isHighlighted: Bool? = nil
    ) {
        object { writer in
            writer.key("id")
            writer.string(target.id)
            writer.key("text")
            writer.string(text)
            writer.key("range")
            writer.range(range)
            guard let isHighlighted else { return }
            writer.key("highlighted")
            writer.bool(isHighlighted)
        }
    }

    fileprivate mutating func completion(_ completion: CompletionState?) {
        guard let completion else { return null() }
        object { writer in
            writer.key("prefix")
            writer.string(completion.prefix)
            writer.key("query")
            writer.string(completion.query)
            writer.key("range")
            writer.range(completion.range)
            writer.key("kind")
            writer.string(completion.kind.rawValue)
            writer.key("state")
            writer.string(completion.phase.rawValue)
            writer.key("items")
            writer.array(completion.items) { $0.string($1.name) }
            writer.key("selected")
            if let selected = completion.selected { writer.integer(selected) } else { writer.null() }
            writer.key("visible")
            writer.bool(completion.isVisible)
        }
    }

    fileprivate mutating func query(_ query: CompletionQuery) {
        object { writer in
            writer.key("id")
            writer.string(query.id)
            writer.key("prefix")
            writer.string(query.prefix)
            writer.key("query")
            writer.string(query.text)
            writer.key("kind")
            writer.string(query.kind.rawValue)
        }
    }

    fileprivate mutating func attachment(_ attachment: Attachment) {
        object { writer in
            writer.key("type")
            writer.string(attachment.type)
            writer.key("name")
            writer.string(attachment.name)
            writer.key("bytes")
            writer.integer(attachment.bytes)
        }
    }

    fileprivate mutating func message(_ message: ComposedMessage) {
        object { writer in
            writer.key("id")
            writer.string(message.id)
            writer.key("text")
            writer.string(message.text.source)
            writer.key("mentions")
            let document = ComposerDocument(message.text)
            writer.array(message.mentions) { writer, mark in
                guard let target = mark.mention else { return }
                writer.mention(target, document.text(in: mark.range), mark.range)
            }
            writer.key("attachments")
            writer.array(message.attachments) { $0.attachment($1) }
        }
    }

    fileprivate mutating func word(_ word: ComposerDocument.Word?) {
        guard let word else { return null() }
        object { writer in
            writer.key("range")
            writer.range(word.range)
            writer.key("text")
            writer.string(word.text)
        }
    }
}
