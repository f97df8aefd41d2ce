public import Composer

/// The invariants of a composer.
public enum Invariants {
    /// Returns a description of the violation, or `nil` if all invariants hold. Takes at least O(n) in the length of
    /// the text.
    public static func violation(of composer: MirroredComposer) -> String? {
        let engine = composer.engine
        let document = engine.document
        let text = document.text
        guard Array(text.utf16) == composer.mirror else { return "the effects do not mirror the text" }
        guard composer.mirroredSelection == engine.selection else { return "the effects do not mirror the selection" }
        return selectionViolation(engine) ?? countViolation(document, text) ?? spanViolation(document)
            ?? stateViolation(engine.state, document) ?? completionViolation(engine.state, document)
            ?? spellingViolation(composer, text)
    }

    private static func selectionViolation(_ engine: ComposerEngine) -> String? {
        let selection = engine.selection
        guard engine.document.contains(selection) else { return "selection out of the text: \(selection)" }
        guard engine.document.aligned(selection) == selection else { return "selection splits a cluster: \(selection)" }
        return nil
    }

    private static func countViolation(_ document: ComposerDocument, _ text: String) -> String? {
        if document.length != text.utf16.count { return "length" }
        if document.scalarCount != text.unicodeScalars.count { return "scalar count" }
        if document.graphemeCount != text.count { return "grapheme count" }
        if document.hardLineCount != ComposerDocument(text).hardLineCount { return "line count" }
        if document.isBlank != text.unicodeScalars.allSatisfy(\.properties.isWhitespace) {
            return "blankness of \(text.debugDescription)"
        }
        if text.unicodeScalars.contains("\0") { return "NUL in the text" }
        return nil
    }

    private static func spanViolation(_ document: ComposerDocument) -> String? {
        var mentionEnd = 0
        for span in document.spans {
            guard !span.range.isEmpty, document.contains(span.range) else { return "span out of the text: \(span)" }
            guard document.aligned(span.range) == span.range else { return "span splits a cluster: \(span)" }
            guard let mention = span.mention else { continue }
            guard span.range.location >= mentionEnd else { return "mentions overlap at \(span.range)" }
            mentionEnd = span.range.end
            let text = document.text(in: span.range)
            guard text.unicodeScalars.elementsEqual(mention.text.unicodeScalars) else {
                return "mention \(mention) stands over \(text.debugDescription)"
            }
        }
        var styleEnds: [TextStyle.Kind: Int] = [:]
        for span in document.spans {
            guard let kind = span.style?.kind else { continue }
            if span.range.location < styleEnds[kind] ?? 0 { return "two styles of one kind at \(span.range)" }
            styleEnds[kind] = span.range.end
        }
        return Set(document.spans.map(\.id)).count == document.spans.count ? nil : "two spans with one identifier"
    }

    private static func stateViolation(_ state: ComposerState, _ document: ComposerDocument) -> String? {
        if state.canSend, state.canSave { return "can send and save at once" }
        if state.canSend, document.isBlank, state.attachments.isEmpty { return "can send nothing" }
        if state.canSend || state.canSave, state.counter?.exceeded ?? false { return "can send beyond the limit" }
        if state.height < 0 || state.lines < 1 || state.maxLines < 1 { return "impossible size" }
        return nil
    }

    /// Misspelled ranges are whole words that do not touch, and the effects report all of them.
    private static func spellingViolation(_ composer: MirroredComposer, _ text: String) -> String? {
        let (engine, document) = (composer.engine, composer.engine.document)
        var behind = 0
        for range in engine.misspelled {
            guard !range.isEmpty, range.location >= behind, document.contains(range) else {
                return "misspelled ranges overlap or leave the text: \(range)"
            }
            behind = range.end + 1
            guard document.aligned(range) == range else { return "misspelled range splits a cluster: \(range)" }
            let word = document.text(in: range)
            guard word.allSatisfy({ isOfWord($0) || "'\u{2019}\u{B7}\u{5F3}\u{5F4}".contains($0) }) else {
                return "misspelled is no word: \(word.debugDescription)"
            }
            let around = [document.character(before: range.location), document.character(at: range.end)]
            if around.contains(where: { $0.map(isOfWord) ?? false }) {
                return "misspelled is a part of a word: \(word.debugDescription)"
            }
            if engine.misspelling(at: range.location) != range || engine.misspelling(at: range.end) != range {
                return "misspelled word is not found at \(range)"
            }
        }
        guard composer.misspelled == MirroredComposer.marks(engine.misspelled, document.length) else {
            return "the effects do not mirror the misspelled words"
        }
        return nil
    }

    private static func isOfWord(_ character: Character) -> Bool {
        switch character.unicodeScalars.first!.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber:
            true
        default: false
        }
    }

    private static func completionViolation(_ state: ComposerState, _ document: ComposerDocument) -> String? {
        if let highlighted = state.highlightedMention, !document.mentions.contains(where: { $0.id == highlighted }) {
            return "what is highlighted is no mention"
        }
        guard let completion = state.completion else { return nil }
        let (range, caret) = (completion.range, state.selection)
        guard document.contains(range), caret.isEmpty, (range.location...range.end).contains(caret.location) else {
            return "completion away from the caret: \(completion)"
        }
        let token = document.text(in: range)
        guard token.hasPrefix(completion.prefix), token.contains(completion.query) else {
            return "completion is not what is written: \(completion)"
        }
        if let row = completion.selected, !completion.items.indices.contains(row) { return "no such row: \(row)" }
        if Set(completion.items.map(\.id)).count < completion.items.count { return "two rows of one entity" }
        return document.mentions.contains { $0.range.intersects(range) } ? "completion over a mention" : nil
    }

    /// Checks that undoing and redoing all steps restores the content.
    public static func undoViolation(of composer: MirroredComposer, at time: Duration) -> String? {
        guard !composer.engine.state.isHidden else { return nil }
        var other = composer
        while other.engine.state.canRedo { if let broken = other.step(.redo, time) { return broken } }
        let newest = other.engine.document
        var steps: [(ComposerDocument, TextRange)] = []
        while other.engine.state.canUndo {
            let before = other.engine.document
            if let broken = other.step(.undo, time) { return broken }
            steps.append((before, other.engine.selection))
        }
        for (document, _) in steps.reversed() {
            if let broken = other.step(.redo, time) { return broken }
            if other.engine.document != document { return "redo is not the reverse of undo" }
        }
        return other.engine.document == newest ? nil : "undo and redo do not end where they began"
    }

    /// Checks that the draft survives encoding and decoding.
    public static func draftViolation(of engine: ComposerEngine) -> String? {
        let draft = engine.makeDraft()
        guard let data = try? draft.encoded() else { return "draft can't be stored" }
        guard let read = try? ComposerDraft.decode(data) else { return "draft can't be read: \(draft)" }
        guard read == draft else { return "draft changes when stored: \(draft) is read as \(read)" }
        var restoredEngine = ComposerEngine(configuration: engine.configuration)
        _ = restoredEngine.restore(read)
        let restored = restoredEngine.makeDraft()
        // Unsent messages are restored as soon as the composer has room for them.
        guard draft.unsent == nil, draft.unsavedEdits == nil else {
            var again = ComposerEngine(configuration: engine.configuration)
            _ = again.restore(restored)
            return again.makeDraft() == restored ? nil : "draft changes when restored twice"
        }
        return restored == draft ? nil : "draft changes when restored"
    }
}

extension MirroredComposer {
    fileprivate mutating func step(_ event: ComposerEvent, _ time: Duration) -> String? {
        if let broken = handle(event, at: time) { return broken }
        return Array(engine.document.text.utf16) == mirror ? nil : "\(event) does not mirror the text"
    }
}
