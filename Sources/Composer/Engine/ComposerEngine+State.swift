extension ComposerEngine {
    /// The current state, without the text.
    public var state: ComposerState {
        let lines = lineCount
        let maximum = maximumLines
        return ComposerState(
            selection: selection, preedit: preedit, length: document.length, isBlank: document.isBlank,
            revision: revision,
            showsPlaceholder: document.isEmpty && preedit.isEmpty, mode: mode, reply: reply,
            canSend: sendRejection == nil && mode == .compose, canSave: saveRejection == nil,
            isSending: !outbox.pending.isEmpty, failedCount: outbox.failedEntries.count, counter: counter, lines: lines,
            maximumLines: maximum, height: height, isExpanding: lines >= maximum,
            scrollsInside: lines > maximum, isExpanded: isExpanded, formatting: offeredFormats,
            typingStyles: typingStyles, canClearStyles: canClearStyles, typing: typingText,
            typingNames: typingUsers.names, attachments: attachments, canUndo: history.canUndo,
            canRedo: history.canRedo,
            highlightedMention: highlightedMention, completion: completion, isFocused: isFocused, isHidden: isHidden)
    }

    var isEditing: Bool { mode != .compose }

    private var typingStyles: Set<TextStyle> { chosenStyles ?? document.styles(before: selection.location) }

    private var canClearStyles: Bool {
        guard !selection.isEmpty else { return !typingStyles.isEmpty }
        return document.spans.contains { $0.style != nil && $0.range.intersects(selection) }
    }

    var counter: CounterState? {
        guard let limit = configuration.limit else { return measuredCounter }
        let count = configuration.limitedCount(of: document)
        let text = configuration.counterStyle.text(count: count, limit: limit)
        return CounterState(
            text: text, exceeded: count > limit, excess: count - limit,
            margin: configuration.countUnit == .utf8 ? 1000 : 20)
    }

    private var measuredCounter: CounterState? {
        guard let measured, !document.isEmpty else { return nil }
        let excess = measured.excess + document.byteCount - measured.bytes
        return CounterState(text: "\(-excess)", exceeded: excess > 0, excess: excess, margin: 1000)
    }

    /// Hidden while editing and during completion, whose list covers it or is about to (SLK-41).
    private var typingText: String? {
        let isCompleting = completing.session.map { $0.isVisible || $0.phase == .awaiting } ?? false
        return isEditing || isCompleting ? nil : configuration.typingPhrases.text(for: typingUsers.names)
    }

    private var offeredFormats: [String] {
        guard !selection.isEmpty else { return [] }
        return configuration.markdown.filter { offers($0) }.map(\.title)
    }

    // MARK: Growth

    var lineCount: Int {
        document.isEmpty ? 1 : max(1, document.hardLineCount + wrappedLines)
    }

    var maximumLines: Int {
        let chrome = configuration.insets.outerHeight + layout.underHeight + (isEditing ? GrowthRules.editBarHeight : 0)
        return GrowthRules.maximumLines(
            configuration.maxLines, windowHeight: layout.windowHeight, lineHeight: layout.lineHeight, chrome: chrome,
            textScale: layout.textScale)
    }

    var height: Int {
        guard !isHidden else { return 0 }
        return GrowthRules.barHeight(
            lines: isExpanded ? maximumLines : min(lineCount, maximumLines), lineHeight: layout.lineHeight,
            insets: configuration.insets, underHeight: layout.underHeight, editing: isEditing)
    }

    // MARK: Sending

    /// The most important reason why the message can't be sent now, or `nil` if it can (SLK-9).
    var sendRejection: ComposerRejection? {
        if isHidden { return .hidden }
        if document.isBlank, attachments.isEmpty { return .empty }
        if counter?.exceeded ?? false { return .overLimit }
        if attachments.contains(where: { $0.upload != .ready }) { return .uploading }
        if !isConnected { return .notConnected }
        if outbox.holds(revision: revision) { return .alreadySending }
        return nil
    }

    var saveRejection: ComposerRejection? {
        if !isEditing { return .notEditing }
        if isHidden { return .hidden }
        if document.isBlank, !mayBeEmpty { return .empty }
        if counter?.exceeded ?? false { return .overLimit }
        return nil
    }
}
