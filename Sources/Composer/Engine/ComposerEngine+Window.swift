extension ComposerEngine {
    mutating func performWindow(_ event: ComposerEvent) {
        switch event {
        case .focus(let isFocused): setFocus(isFocused)
        case .hide(let isHidden): setHidden(isHidden)
        case .expand(let isExpanded): self.isExpanded = isExpanded
        case .layout(let layout): setLayout(layout)
        case .userTyping(let name, let isTyping): setUserTyping(name, isTyping)
        default: break
        }
    }

    mutating func holdSelection(_ isHeld: Bool) {
        if isHeld {
            heldSelection = heldSelection ?? selection
        } else {
            transaction.selectionBefore = heldSelection
            heldSelection = nil
        }
    }

    private mutating func setFocus(_ focus: Bool) {
        guard focus != isFocused, !(focus && isHidden) else { return }
        isFocused = focus
        observe(focus ? .focused : .unfocused)
        guard !focus else { return resumeCompletion() }
        suspendCompletion()
        if configuration.clearsBlankOnBlur, document.isBlank, !document.isEmpty {
            replaceAll(with: ComposerDocument(), selection: .caret(0))
        }
        if draft.flush() { emit(.draftChanged) }
    }

    private mutating func setHidden(_ hidden: Bool) {
        guard hidden != isHidden else { return }
        if hidden {
            setFocus(false)
            closeCompletion()
        }
        isHidden = hidden
        observe(hidden ? .hidden : .shown)
    }

    private mutating func setLayout(_ layout: ComposerLayout) {
        self.layout = layout
        wrappedLines = layout.lines.map { min(max($0, 1), 1_000_000) - document.hardLineCount } ?? 0
    }

    private mutating func setUserTyping(_ name: String, _ isTyping: Bool) {
        let before = typingUsers.names
        if isTyping {
            typingUsers.started(name, at: now, timeout: configuration.typingTimeout)
        } else {
            typingUsers.stopped(name)
        }
        if typingUsers.names != before { observe(.peerTypingChanged) }
    }
}
