/// The internal clipboard: what was cut and copied of the text, with its marks.
struct TextClipboard: Sendable {
    private(set) var fragment: ClipboardFragment?

    /// Copies the selection.
    mutating func copy(from editor: inout TextEditor) {
        guard !editor.selection.isEmpty else { return }
        let copied = editor.document.fragment(in: editor.selection)
        fragment = copied
        editor.transaction.emit(.copied(copied))
        editor.transaction.observe(.copied)
    }

    /// Copies the selection and deletes it, if interceptors allow that.
    mutating func cut(from editor: inout TextEditor) {
        guard !editor.selection.isEmpty else { return }
        editor.applyIfAdmitted(TextChange(replacing: editor.selection, with: "", origin: .typed)) { copy(from: &$0) }
    }
}
