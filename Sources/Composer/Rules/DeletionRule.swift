/// What Backspace and Delete do at a selection.
struct DeletionRule {
    enum Step {
        case highlight(Span.ID)
        case mentions(MentionDeletion.Replacement)
        case text(TextRange, UndoGrouping)
    }

    let mentions: MentionDeletion
    let selection: TextRange

    /// What is deleted: the selection, or else what is next to the caret; `nil` at the end of the text.
    ///
    /// - Parameter highlighted: the mention that is highlighted already.
    func step(backward: Bool, byWord: Bool, highlighted: Span.ID?) -> Step? {
        guard selection.isEmpty else { return .text(selection, .atomic) }
        let caret = selection.location
        let document = mentions.document
        switch mentions.step(at: caret, backward: backward, byWord: byWord, highlighted: highlighted) {
        case .highlight(let id): return .highlight(id)
        case .replace(let replacement): return .mentions(replacement)
        case nil:
            guard let range = document.rangeToDelete(at: caret, backward: backward, byWord: byWord) else { return nil }
            guard !byWord else { return .text(range, .atomic) }
            let next = backward ? document.character(before: caret) : document.character(at: caret)
            return .text(range, .deleting(forward: !backward, isBlank: next?.isBlank ?? false))
        }
    }
}
