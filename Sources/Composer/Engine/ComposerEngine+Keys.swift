extension ComposerEngine {
    /// The current conditions for ``KeyTable/action(for:in:)``.
    public var keyContext: KeyContext {
        var context: KeyContext = isEditing ? .editing : .composing
        if document.isEmpty, attachments.isEmpty { context.insert(.empty) }
        if !selection.isEmpty { context.insert(.selection) }
        if let session = completing.session, session.isVisible, !session.items.isEmpty {
            context.insert(.completing)
            if session.selected != nil { context.insert(.choosing) }
        }
        return context
    }

    /// Handles a key press. Ignores keys while the input method has preedit text.
    mutating func press(_ chord: KeyChord) {
        guard preedit.isEmpty, let action = keys.action(for: chord, in: keyContext) else { return }
        if perform(action) { emit(.keyHandled) }
    }

    /// - Returns: whether the composer handled the key.
    private mutating func perform(_ action: KeyAction) -> Bool {
        switch action {
        case .send: send()
        case .insertNewline: insertNewline(over: selection)
        case .insertTab: edit(selection, "\t", .typed)
        case .escape: return escape()
        case .editLast:
            emit(.editLastRequested)
            observe(.editLastRequested)
        case .undo: undo()
        case .redo: redo()
        case .format(let name): format(name)
        case .clearStyles: clearStyles()
        case .selectAll: select(TextRange(location: 0, length: document.length))
        case .cut: cut()
        case .copy: copy()
        case .clear: replaceAll(with: ComposerDocument(), selection: .caret(0))
        case .toggleExpanded: isExpanded.toggle()
        case .moveInCompletion(let move): moveInCompletion(move)
        case .acceptCompletion: acceptRow(nil)
        case .host(let name): emit(.hostAction(name))
        }
        return true
    }

    private mutating func moveInCompletion(_ move: CompletionMove) {
        guard let session = completing.session else { return }
        let row = move.row(from: session.selected, count: session.items.count, page: configuration.completion.rows)
        if let row, completing.session?.select(row) ?? false { observe(.completionChanged) }
    }

    /// Closes one layer per press: completion, edit mode, reply, selection, focus (SLK-45).
    private mutating func escape() -> Bool {
        if let session = completing.session, session.token.kind == .explicit || session.isVisible {
            closeCompletion(staysClosed: true)
        } else if isEditing {
            cancelEdit()
        } else if reply != nil {
            setReply(nil)
        } else if !selection.isEmpty {
            select(.caret(selection.end))
        } else if isFocused {
            emit(.focusRequested(false))
        } else {
            return false
        }
        return true
    }
}
