/// The bar in its window: measurements, focus and visibility (SLK-4, SLK-5, SLK-53, MIB-8).
struct BarState: Sendable {
    private var layout = ComposerLayout.initial
    /// The number of lines that wrapping added at the last measurement.
    private var wrappedLines = 0
    private(set) var isFocused = false
    private(set) var isHidden = false
    var isExpanded = false

    mutating func setLayout(_ layout: ComposerLayout, hardLines: Int) {
        self.layout = layout
        wrappedLines = layout.lines.map { min(max($0, 1), 1_000_000) - hardLines } ?? 0
    }

    /// Forgets how the previous text was wrapped.
    mutating func textReplaced() { wrappedLines = 0 }

    /// - Returns: whether the focus changed; a hidden composer never gets the focus.
    mutating func setFocus(_ isFocused: Bool, _ transaction: inout EventTransaction) -> Bool {
        guard isFocused != self.isFocused, !(isFocused && isHidden) else { return false }
        self.isFocused = isFocused
        transaction.observe(isFocused ? .focused : .unfocused)
        return true
    }

    mutating func setHidden(_ isHidden: Bool, _ transaction: inout EventTransaction) {
        guard isHidden != self.isHidden else { return }
        self.isHidden = isHidden
        transaction.observe(isHidden ? .hidden : .shown)
    }

    // MARK: Growth

    func lineCount(of document: ComposerDocument) -> Int {
        document.isEmpty ? 1 : max(1, document.hardLineCount + wrappedLines)
    }

    func maxLines(_ configuration: ComposerConfiguration, isEditing: Bool) -> Int {
        let chrome = configuration.insets.outerHeight + layout.underHeight + (isEditing ? GrowthRules.editBarHeight : 0)
        return GrowthRules.maxLines(
            configuration.maxLines, windowHeight: layout.windowHeight, lineHeight: layout.lineHeight, chrome: chrome,
            textScale: layout.textScale)
    }

    /// In logical pixels; 0 while hidden.
    func height(of document: ComposerDocument, _ configuration: ComposerConfiguration, isEditing: Bool) -> Int {
        guard !isHidden else { return 0 }
        let maximum = maxLines(configuration, isEditing: isEditing)
        return GrowthRules.barHeight(
            lines: isExpanded ? maximum : min(lineCount(of: document), maximum), lineHeight: layout.lineHeight,
            insets: configuration.insets, underHeight: layout.underHeight, editing: isEditing)
    }
}
