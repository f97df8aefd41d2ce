/// The spelling of a text: its unchecked parts and its misspelled words.
///
/// An edit moves both kinds of ranges, and marks what it touches as unchecked. A moment later, the words there are
/// looked up, one slice of the text at a time. Unknown words are requested; their part of the text stays unchecked and
/// is looked up again once they are known. As a response concerns words and not positions, no edit invalidates it.
struct CheckedText: Sendable {
    /// The delay between an edit and its check. Later edits do not extend it.
    static let delay = Duration.milliseconds(300)
    /// The delay until the first check of a text that was not typed, such as a draft. Loading the dictionaries for it
    /// would delay the window that shows it.
    static let firstDelay = Duration.seconds(1)
    /// The delay between slices of a long text.
    private static let sliceDelay = Duration.milliseconds(10)
    /// The length of a slice, in UTF-16 code units.
    private static let slice = 4000
    /// The maximum number of words in a request.
    private static let maxRequest = 400
    /// The maximum number of cached results.
    private static let maxVerdicts = 8000

    private(set) var isOn = false
    /// When to call ``check(_:now:)``.
    private(set) var deadline: Duration?
    private var misspelled = MovingRanges()
    /// The lines that open or close a code block.
    private var fences = MovingRanges()
    private var unchecked = TouchedRanges()
    /// The ranges that changed since the last report.
    private var changed = TouchedRanges()
    /// Whether a word is correct, by word.
    private var verdicts: [String: Bool] = [:]
    private var ignored: Set<String> = []
    private var request: SpellingRequest?
    private var requestCount = 0
    /// Whether a request was ever answered, so that the dictionaries are loaded.
    private var hasAnswer = false
    /// Whether the user last typed at the caret, so that the word there may be unfinished.
    private var isWriting = false

    /// The document and what else a check depends on.
    struct Site {
        let document: ComposerDocument
        let selection: TextRange
        /// Whether the input method shows a preedit text at the caret.
        let isComposing: Bool
        let rules: [MarkdownRule]

        var fence: String? { document.syntax == .markdown ? rules.first { $0.form == .fence }?.symbol : nil }
    }

    var ranges: [TextRange] { misspelled.all }

    /// The misspelled word that contains an offset or ends there.
    func misspelling(at offset: Int) -> TextRange? { misspelled.range(at: offset) }

    // MARK: On and off

    /// Starts over without results, since spelling was off or dictionaries have changed.
    mutating func start(_ document: ComposerDocument, now: Duration) {
        stop(document)
        isOn = true
        misspelled = MovingRanges(textLength: document.length)
        fences = misspelled
        touchAll(document, now: now)
    }

    mutating func stop(_ document: ComposerDocument) {
        guard isOn else { return }
        isOn = false
        if !misspelled.isEmpty { changed.add(TextRange(location: 0, length: document.length)) }
        misspelled = MovingRanges()
        fences = MovingRanges()
        unchecked.removeAll()
        verdicts = [:]
        request = nil
        deadline = nil
    }

    // MARK: Following the text

    /// Updates the ranges after an edit of the document.
    mutating func apply(_ event: TextEvent, in site: Site, now: Duration) {
        guard isOn else { return }
        let edit = AppliedEdit(range: event.range, replacement: event.inserted)
        let document = site.document
        unchecked.apply(edit)
        changed.apply(edit)
        for old in misspelled.apply(edit) {
            if let word = edit.moved(old), WordFinder.isWhole(word, in: document) {
                misspelled.insert(word)
            } else {
                changed.add(document.clamped(edit.stretched(old)))
            }
        }
        for old in fences.apply(edit) {
            if let line = edit.moved(old), isFence(at: line.location, site) {
                fences.insert(line)
            } else {
                touch(from: edit.stretched(old).location, document)
            }
        }
        let written = TextRange(location: edit.range.location, length: edit.replacement.utf16.count)
        unchecked.add(written)
        if Self.changesContext(event.inserted) || Self.changesContext(event.removed) {
            for offset in [written.location, written.end] {
                unchecked.add(document.line(at: offset, limit: MarkdownStyling.limit))
            }
        }
        switch event.origin {
        case .typed, .inputMethod: isWriting = true
        case .dictation, .paste, .undo, .code: isWriting = false
        }
        schedule(now)
    }

    /// Whether the text can start or end code, links or lines, which affects the paragraph beyond it.
    private static func changesContext(_ text: String) -> Bool {
        text.unicodeScalars.contains { scalar in
            switch scalar {
            case "`", "[", "]", "(", ")", "\\": true
            default: scalar.isLineBreak
            }
        }
    }

    /// Marks a range whose meaning has changed, but not its text.
    mutating func touch(_ range: TextRange, now: Duration) {
        guard isOn else { return }
        unchecked.add(range)
        schedule(now)
    }

    mutating func touchAll(_ document: ComposerDocument, now: Duration) {
        guard isOn else { return }
        touch(from: 0, document)
        schedule(now)
    }

    private mutating func touch(from offset: Int, _ document: ComposerDocument) {
        unchecked.add(TextRange(start: min(offset, document.length), end: document.length))
    }

    /// Call this when the user moved on, so that the word at the caret is finished.
    mutating func finishWriting(now: Duration) {
        guard isWriting else { return }
        isWriting = false
        if !unchecked.isEmpty { schedule(now) }
    }

    private mutating func schedule(_ now: Duration) {
        guard request == nil else { return }
        let due = now + (isWriting || hasAnswer ? Self.delay : Self.firstDelay)
        deadline = min(deadline ?? due, due)
    }

    // MARK: Words

    /// Treats the word as correct from now on.
    mutating func ignore(_ word: String, in document: ComposerDocument) {
        ignored.insert(word)
        for range in misspelled.all where document.text(in: range) == word {
            if misspelled.replace(in: range, with: []) { changed.add(range) }
        }
    }

    /// Stores the response to a request, and continues.
    ///
    /// - Returns: the next request.
    mutating func note(_ wrong: Set<String>, of id: Int, _ site: Site, now: Duration) -> SpellingRequest? {
        guard let request, request.id == id else { return nil }
        self.request = nil
        hasAnswer = true
        if verdicts.count + request.words.count > Self.maxVerdicts { verdicts = [:] }
        for word in request.words { verdicts[word] = !wrong.contains(word) }
        return check(site, now: now)
    }

    /// Checks unchecked parts.
    ///
    /// - Returns: a request for unknown words.
    mutating func check(_ site: Site, now: Duration) -> SpellingRequest? {
        guard isOn, request == nil else { return nil }
        deadline = nil
        var slice = Slice(site)
        var budget = Self.slice
        var waiting = unchecked
        unchecked.removeAll()
        while budget > 0, slice.unknown.count < Self.maxRequest, let range = waiting.removeFirst() {
            let window = check(range, &slice, &waiting)
            budget -= max(window.length, 16)
            guard window.end < range.end else { continue }
            let next = site.document.clusterBoundary(after: window.end)
            if next <= range.end { waiting.add(TextRange(start: next, end: range.end)) }
        }
        let hasMore = !waiting.isEmpty
        for range in waiting.ranges { unchecked.add(range) }
        guard slice.unknown.isEmpty else {
            requestCount += 1
            request = SpellingRequest(id: requestCount, words: slice.unknown)
            return request
        }
        if hasMore { deadline = now + Self.sliceDelay }
        return nil
    }

    /// The state of checking one slice.
    private struct Slice {
        let site: Site
        private(set) lazy var markup = MarkdownStyling(rules: site.rules)
        private(set) var unknown: [String] = []
        private var requested: Set<String> = []

        init(_ site: Site) {
            self.site = site
        }

        mutating func request(_ word: String) {
            if requested.insert(word).inserted { unknown.append(word) }
        }
    }

    /// Checks the words of a line that a range touches.
    ///
    /// - Returns: the checked part of the text.
    private mutating func check(
        _ range: TextRange, _ slice: inout Slice, _ waiting: inout TouchedRanges
    ) -> TextRange {
        let site = slice.site
        let document = site.document
        let line = document.line(at: range.location, limit: MarkdownStyling.limit)
        let isFence = noteFence(line, site, &waiting)
        let part = TextRange(
            start: range.location, end: min(range.end, line.end, range.location + Self.slice))
        let window = document.tokens(around: part)
        let isCode = isFence || fences.count(before: line.location) % 2 == 1
        var wrong: [TextRange] = []
        var isKnown = true
        let found = isCode ? [] : WordFinder(document.text(in: window), from: window.location).words
        let excluded = found.isEmpty ? [] : site.excluded(in: line) { slice.markup }
        for word in found where !excluded.contains(where: { $0.intersects(word.range) }) {
            if isUnfinished(word.range, site) {
                unchecked.add(word.range)
            } else if ignored.contains(word.text) {
                continue
            } else if let isRight = verdicts[word.text] {
                if !isRight { wrong.append(word.range) }
            } else {
                slice.request(word.text)
                isKnown = false
            }
        }
        if !isKnown { unchecked.add(window) }
        if misspelled.replace(in: window, with: wrong) { changed.add(window) }
        return window
    }

    /// Whether the word is being typed.
    private func isUnfinished(_ word: TextRange, _ site: Site) -> Bool {
        guard site.selection.isEmpty else { return false }
        let caret = site.selection.location
        if site.isComposing, word.location <= caret, caret <= word.end { return true }
        guard isWriting, word.location < caret else { return false }
        if caret <= word.end { return true }
        // After an apostrophe, the word may continue.
        guard let last = site.document.character(before: caret), last.joinsWord else { return false }
        return caret - last.utf16.count == word.end
    }

    // MARK: Blocks of code

    /// Updates a line's state. If it starts or stops delimiting a code block, everything after it changes its meaning.
    private mutating func noteFence(_ line: TextRange, _ site: Site, _ waiting: inout TouchedRanges) -> Bool {
        let isFence = isFence(at: line.location, site)
        let marks = isFence ? [TextRange(location: line.location, length: site.fence?.utf16.count ?? 0)] : []
        if fences.replace(in: line, with: marks) {
            waiting.add(TextRange(start: line.location, end: site.document.length))
        }
        return isFence
    }

    private func isFence(at offset: Int, _ site: Site) -> Bool {
        guard let fence = site.fence else { return false }
        if let before = site.document.storage.scalar(before: offset), !before.isLineBreak { return false }
        return site.document.text(in: TextRange(location: offset, length: fence.utf16.count)) == fence
    }

    // MARK: Reporting

    var hasChanged: Bool { !changed.isEmpty }

    /// - Returns: the parts of the text whose misspelled words have changed since the last report, with these words.
    mutating func report() -> [(part: TextRange, words: [TextRange])] {
        guard !changed.isEmpty else { return [] }
        defer { changed.removeAll() }
        return changed.ranges.map { ($0, misspelled.ranges(in: $0)) }
    }
}

extension CheckedText.Site {
    /// The parts of a line without prose: code, links, mentions and images.
    /// - Parameter markup: called only if the line may contain any.
    func excluded(in line: TextRange, _ markup: () -> MarkdownStyling) -> [TextRange] {
        var excluded: [TextRange] = []
        for span in document.spans where span.range.intersects(line) {
            switch span.content {
            case .mention, .picture, .style(.monospace), .style(.link): excluded.append(span.range)
            case .style: break
            }
        }
        guard document.syntax == .markdown else { return excluded }
        let text = document.text(in: line)
        let mayHaveMarkup = UTF8Scan.contains(in: text) { $0 == UInt8(ascii: "`") || $0 == UInt8(ascii: "[") }
        guard mayHaveMarkup else { return excluded }
        for run in markup().runs(in: text, isInFence: false).runs {
            switch run.style {
            case .code, .codeBlock, .link, .marker:
                excluded.append(TextRange(location: line.location + run.range.location, length: run.range.length))
            case .bold, .italic, .strike, .quote: break
            }
        }
        return excluded
    }
}

extension ComposerDocument {
    /// How far to search for white space.
    private static let tokenReach = 400

    /// The range extended to white space on both sides.
    func tokens(around range: TextRange) -> TextRange {
        TextRange(
            start: storage.lastOffset(before: range.location, limit: Self.tokenReach, where: \.isBlank),
            end: storage.firstOffset(from: range.end, limit: Self.tokenReach, where: \.isBlank))
    }
}
