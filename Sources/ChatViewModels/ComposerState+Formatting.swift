public import Composer

nonisolated extension ComposerState {
    /// The titles of the rules that can be applied now; nil if all can, as without a selection.
    public var offeredFormats: [String]? { selection.isEmpty ? nil : formatting }

    /// The selection that a toolbar beside it is for; nil while there is none, or something else needs the room.
    public var selectionToFormat: TextRange? {
        selection.isEmpty || formatting.isEmpty || completion != nil || !isFocused ? nil : selection
    }

    /// Whether a send button has something to be for, however blank (SLK-10).
    public var hasSomethingToSend: Bool { length > 0 || !attachments.isEmpty }
}
