public import Composer

nonisolated extension ComposerState {
    /// The titles of the applicable rules; `nil` if all apply, as without a selection.
    public var offeredFormats: [String]? { selection.isEmpty ? nil : formatting }

    /// The selection to show a formatting toolbar for, or `nil` if it should be hidden.
    public var selectionToFormat: TextRange? {
        selection.isEmpty || formatting.isEmpty || completion != nil || !isFocused ? nil : selection
    }

    /// Whether to show a send button: there is text, even if blank, or an attachment (SLK-10).
    public var hasSomethingToSend: Bool { length > 0 || !attachments.isEmpty }
}
