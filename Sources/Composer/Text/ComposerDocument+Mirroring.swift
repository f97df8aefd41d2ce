/// Mirroring a document's edits in a copy of its text.
extension ComposerDocument {
    /// Applies an edit that another copy of this document reported. Updates the text only, not the spans.
    ///
    /// - Returns: the replaced range in Unicode scalars, before the edit.
    public mutating func mirror(_ edit: AppliedEdit) -> TextRange {
        let start = storage.scalarOffset(ofUTF16: edit.range.location)
        let end = storage.scalarOffset(ofUTF16: edit.range.end)
        _ = replace(edit.range, with: edit.replacement)
        return TextRange(start: start, end: end)
    }
}
