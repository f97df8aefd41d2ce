/// Following a document's edits in a copy of its text.
extension ComposerDocument {
    /// Carries out an edit that another copy of this document reported, text only: spans are not kept up.
    ///
    /// - Returns: the replaced range in Unicode scalars, as it was before the edit.
    public mutating func mirror(_ edit: AppliedEdit) -> TextRange {
        let start = storage.scalarOffset(ofUTF16: edit.range.location)
        let end = storage.scalarOffset(ofUTF16: edit.range.end)
        _ = replace(edit.range, with: edit.replacement)
        return TextRange(start: start, end: end)
    }
}
