import Composer

extension ReplayPlayer {
    static let inputVerbs: [String: Action] = [
        "key": { player, argument in
            let name = try argument.string()
            guard let chord = KeyChord(parsing: name) else { throw ReplayError("unknown key \"\(name)\"") }
            player.press(chord)
        },
        "cut": { player, argument in
            try argument.requireTrue()
            player.handle(.cut)
        },
        "copy": { player, argument in
            try argument.requireTrue()
            player.handle(.copy)
        },
        "paste": { player, argument in try player.paste(argument) },
        "attach": { player, argument in
            let fields = try argument.object(required: ["type", "bytes"], optional: ["name"])
            player.handle(.attach(try attachment(fields)))
        },
        "detach": { player, argument in
            let index = try argument.integer()
            guard player.engine.state.attachments.indices.contains(index) else {
                throw ReplayError("no attachment there")
            }
            player.handle(.detach(index))
        },
    ]

    private mutating func paste(_ argument: Argument) throws {
        let fields = try argument.object(required: [], optional: ["clipboard", "text", "type", "name", "bytes"])
        if let clipboard = fields.optional("clipboard") {
            guard fields.values.count == 1 else { throw ReplayError.wrongArgument(#"{"clipboard": true} alone"#) }
            try clipboard.requireTrue()
            return handle(.pasteInternalClipboard)
        }
        var offers: [PasteOffer] = []
        if fields.optional("type") != nil {
            guard fields.optional("bytes") != nil else { throw ReplayError("missing key \"bytes\"") }
            offers.append(.media(try Self.attachment(fields)))
        } else if fields.optional("name") != nil || fields.optional("bytes") != nil {
            throw ReplayError("missing key \"type\"")
        }
        if let text = fields.optional("text") { offers.append(.text(try text.string())) }
        guard !offers.isEmpty else { throw ReplayError.wrongArgument("something to paste") }
        handle(.paste(offers))
    }

    /// Handles a key. Keys that the composer ignores have their default effect in a text view, unless there is
    /// preedit text.
    private mutating func press(_ chord: KeyChord) {
        if record(engine.handle(.key(chord), at: clock)) { return }
        guard engine.state.preedit.isEmpty else { return }
        let byWord = chord.modifiers.contains(.control)
        switch chord.key {
        case "BackSpace": handle(.deleteBackward(byWord: byWord))
        case "Delete": handle(.deleteForward(byWord: byWord))
        case "V" where chord.modifiers == .control: handle(.pasteInternalClipboard)
        case "Left", "Right", "Home", "End": move(chord)
        default: break
        }
    }

    /// Moves the caret, or with Shift the end of the selection opposite the anchor.
    private mutating func move(_ chord: KeyChord) {
        let document = engine.document
        let selection = engine.selection
        let extends = chord.modifiers.contains(.shift)
        let anchor = anchor.flatMap { $0 == selection.location || $0 == selection.end ? $0 : nil } ?? selection.location
        let from = anchor == selection.location ? selection.end : selection.location
        let caret: Int
        switch chord.key {
        case "Left" where !selection.isEmpty && !extends: caret = selection.location
        case "Right" where !selection.isEmpty && !extends: caret = selection.end
        case "Left": caret = document.clusterBoundary(before: from)
        case "Right": caret = document.clusterBoundary(after: from)
        case "Home": caret = 0
        default: caret = document.length
        }
        self.anchor = extends ? anchor : nil
        handle(.select(extends ? TextRange(start: min(anchor, caret), end: max(anchor, caret)) : .caret(caret)))
    }
}
