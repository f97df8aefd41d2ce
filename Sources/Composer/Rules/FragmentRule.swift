/// How a fragment is pasted over a range of a text.
struct FragmentRule {
    let configuration: ComposerConfiguration
    let document: ComposerDocument
    let range: TextRange

    private var replacesAll: Bool { range.length == document.length }

    /// What of a fragment is inserted. One that becomes the whole text stays as it is. A literal text that becomes a
    /// part of a Markdown one is escaped; Markdown in a literal text stays as it was typed.
    func adapted(_ written: WrittenText) -> WrittenText {
        guard !replacesAll, written.syntax == .plain, document.syntax == .markdown else { return written }
        // Backslashes would be visible in code.
        let typing = TypingRules(configuration: configuration, document: document)
        guard !typing.isInCode(at: range.location) else { return written }
        let before = document.text(
            in: TextRange(start: document.line(at: range.location).location, end: range.location))
        return MarkdownEscaping(after: before).escaped(written)
    }

    /// The change that inserts an adapted fragment.
    ///
    /// - Parameter admitted: what of its text may be inserted.
    func change(inserting adapted: WrittenText, admitted: String) -> TextChange {
        // Marks of a truncated text might not fit.
        let marks = admitted == adapted.source ? adapted.marks.map { $0.moved(by: range.location) } : []
        var change = TextChange(replacing: range, with: admitted, origin: .paste, marks: marks)
        if replacesAll, adapted.syntax != document.syntax { change.syntax = adapted.syntax }
        return change
    }
}
