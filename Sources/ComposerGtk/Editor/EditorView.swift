import CGtk
import Composer
import ComposerSessions
import GtkKit

/// A GtkTextView that displays the composer's document.
///
/// It intercepts changes by the user before they reach the buffer and hands them to the engine, then applies the
/// engine's edits to the buffer, so the two cannot diverge. All offset conversion happens here: the engine counts
/// UTF-16 code units, the buffer Unicode scalars.
final class EditorView {
    let textView: TextView
    let buffer: TextBuffer
    private let viewModel: any ComposerModel
    /// A copy of the buffer's text that converts offsets in O(log n).
    private var mirror: ComposerDocument
    private var isApplying = false
    /// A deleted selection, deferred until the insertion that may follow, so that both become one edit.
    private var pendingDeletion: TextRange?
    /// Performs ``pendingDeletion`` if no insertion follows. Not the end of the user action: to group its own undo steps,
    /// GtkTextView ends one between the deletion of a selection and the insertion that replaces it.
    private var deletion: Timeout?
    private var preedit = ""
    /// Checks after an edit whether it ended the preedit: the model's state follows its edits.
    private var preeditEnd: Timeout?
    /// Whether the input method is told that its text was committed.
    private var isEndingPreedit = false
    /// Whether the preedit text has just ended: the next insertion is the committed text.
    private var hasComposed = false
    let markdown: MarkdownStyler
    private let pills: MentionPills
    private let styles: StyleTags
    private let spelling: SpellingTags
    let inlineImages: InlineImages
    private let caretBlink: CaretBlink
    /// Called when the user opens the context menu with a key.
    var onMenuKey: (() -> Void)?
    private var rendering: Rendering?
    /// Called first on paste; returns whether it handled the paste.
    var onPaste: (() -> Bool)?
    /// Called when Escape finds nothing to close; returns whether the host handled it (SLK-45).
    var onEscape: (() -> Bool)?
    /// Whether Escape propagates to the ancestors, because there was nothing to close and nobody handled it.
    private var handsKeyOn = false
    private var hints = OverridableSetting(GTK_INPUT_HINT_NONE.rawValue)

    init(textView: TextView, viewModel: any ComposerModel) {
        self.textView = textView
        self.viewModel = viewModel
        mirror = viewModel.document
        buffer = textView.buffer
        buffer.disableUndo()
        markdown = MarkdownStyler(textView: textView, buffer: buffer, rules: viewModel.markdownRules)
        // Created before the pills: later tags have a higher priority, so the pills' text color wins.
        styles = StyleTags(textView: textView, buffer: buffer)
        pills = MentionPills(textView: textView, buffer: buffer)
        inlineImages = InlineImages(textView: textView, buffer: buffer)
        spelling = SpellingTags(textView: textView, buffer: buffer)
        caretBlink = CaretBlink(textView: textView, buffer: buffer)
        showWholeText()
        offerSelection()
        interceptBuffer()
        interceptKeys()
        interceptBindings()
        viewModel.subscribe { [weak self] in self?.apply($0) }
        textView.onPreeditChange { [weak self] in self?.preeditChanged($0) }
        showPills()
        textView.onFocusChange { [weak self] in _ = self?.viewModel.handle(.focus($0.hasFocus)) }
    }

    isolated deinit { setCompleting(false) }

    /// The entity ID of the user, whose mentions get a distinct pill.
    var currentUserEntityID: String? {
        get { pills.currentUserEntityID }
        set {
            pills.currentUserEntityID = newValue
            pills.update(viewModel.document)
        }
    }

    /// Converts a document offset in UTF-16 code units to a buffer offset in Unicode scalars.
    func scalarOffset(of offset: Int) -> Int { mirror.scalarOffset(ofUTF16: offset) }

    // MARK: From the user to the engine

    private func interceptBuffer() {
        buffer.interceptInsertion { [weak self] text, offset in
            guard let self, !self.isApplying else { return false }
            self.userInserts(text, at: offset)
            return true
        }
        buffer.interceptDeletion { [weak self] range in
            guard let self, !self.isApplying else { return .allowed }
            return self.userDeletes(range)
        }
        buffer.onSelectionMark { [weak self] in
            guard let self, !self.isApplying else { return }
            self.viewModel.handle(.select(self.bufferSelection()))
        }
    }

    /// - Parameter scalarOffset: In Unicode scalars.
    private func userInserts(_ text: String, at scalarOffset: Int) {
        guard !isEndingPreedit else { return }
        let offset = mirror.utf16Offset(ofScalar: scalarOffset)
        var range = TextRange.caret(offset)
        if let pending = pendingDeletion, pending.location <= offset, offset <= pending.end { range = pending }
        pendingDeletion = nil
        if preedit.isEmpty, !hasComposed {
            viewModel.handle(.edit(range, replacement: text, origin: .typed))
        } else {
            preedit = ""
            hasComposed = false
            viewModel.handle(.commit(text))
        }
    }

    /// - Parameter scalars: In Unicode scalars.
    private func userDeletes(_ scalars: Range<Int>) -> TextBuffer.Deletion {
        let range = textRange(scalars)
        if range == bufferSelection(), !range.isEmpty {
            pendingDeletion = range
            deletion = Timeout(beforeNextEvent: { [weak self] in self?.performPendingDeletion() })
            return .deferred
        }
        viewModel.handle(.edit(range, replacement: "", origin: .typed))
        return .performed
    }

    private func performPendingDeletion() {
        guard let range = pendingDeletion else { return }
        pendingDeletion = nil
        viewModel.handle(.edit(range, replacement: "", origin: .typed))
    }

    private func preeditChanged(_ text: String) {
        hasComposed = text.isEmpty && !preedit.isEmpty
        preedit = text
        // GtkTextView deletes the selection where composing begins. The commit replaces it, and Escape leaves it.
        if !text.isEmpty { pendingDeletion = nil }
        viewModel.handle(.preedit(text))
    }

    // MARK: Keys

    private func interceptKeys() {
        let keys = KeyController(.capture)
        keys.onPress { [weak self] key in
            guard let self, self.preedit.isEmpty else { return false }
            self.hasComposed = false
            guard let chord = KeyChord(key) else { return false }
            if chord.opensMenu, let open = self.onMenuKey {
                open()
                return true
            }
            if chord == KeyChord("V", [.control, .shift]) {
                self.paste(asPlainText: true)
                return true
            }
            self.handsKeyOn = false
            return self.viewModel.handle(.key(chord)) && !self.handsKeyOn
        }
        textView.addController(keys)
    }

    /// Redirects the text view's key bindings for deletion and the clipboard to the engine.
    private func interceptBindings() {
        textView.interceptBindings { [weak self] in self?.perform($0) ?? false }
    }

    /// - Returns: Whether the engine has an equivalent.
    private func perform(_ binding: TextView.KeyBinding) -> Bool {
        switch binding {
        case .backspace: viewModel.handle(.deleteBackward(byWord: false))
        case .deleteCharacters(1): viewModel.handle(.deleteForward(byWord: false))
        case .deleteToWordEnds(1): viewModel.handle(.deleteForward(byWord: true))
        case .deleteToWordEnds(-1): viewModel.handle(.deleteBackward(byWord: true))
        case .deleteCharacters, .deleteToWordEnds, .deleteOther: return false
        case .cut: viewModel.handle(.cut)
        case .copy: viewModel.handle(.copy)
        case .paste: paste()
        }
        return true
    }

    /// Commits the input method's preedit text.
    func commitPreedit() { textView.commitPreedit() }

    /// - Parameter asPlainText: Whether to ignore everything on the clipboard but text.
    func paste(asPlainText: Bool = false) {
        if !asPlainText, onPaste?() == true { return }
        Clipboard.read(of: textView, asPlainText: asPlainText) { [weak self] offers in
            if !offers.isEmpty { self?.viewModel.handle(.paste(offers)) }
        }
    }

    /// Pastes the primary selection at a point in the text view's coordinates.
    func pasteSelection(x: Double, y: Double) {
        textView.grabFocus()
        let offset = offset(x: x, y: y)
        Clipboard.read(of: textView, isSelection: true) { [weak self] offers in
            guard let self, !offers.isEmpty else { return }
            self.viewModel.handle(.select(.caret(offset)))
            self.viewModel.handle(.paste(offers))
        }
    }

    /// Has the middle button paste mentions, as the clipboard does; encoded only then.
    private func offerSelection() {
        buffer.offerSelection(as: ClipboardFragment.mediaType) { [weak self] in
            guard let self else { return nil }
            // Without it, the text is pasted.
            return try? self.viewModel.document.fragment(in: self.bufferSelection()).encoded()
        }
    }

    // MARK: From the engine to the buffer

    private func apply(_ effect: ComposerEffect) {
        switch effect {
        case .edited(let edits): apply(edits)
        case .selectionChanged(let selection): showSelection(selection)
        case .misspelled(let words, let part): spelling.show(words, in: part, of: mirror)
        case .copied(let fragment): Clipboard.write(fragment, of: textView)
        case .focusRequested(true): textView.grabFocus()
        case .focusRequested(false):
            handsKeyOn = onEscape?() != true && !textView.activateAction("conversation.focus-timeline")
        default: break
        }
    }

    private func apply(_ edits: [AppliedEdit]) {
        isApplying = true
        defer { isApplying = false }
        buffer.userAction {
            for edit in edits {
                let scalars = mirror.mirror(edit)
                pills.track(edit)
                styles.track(edit)
                let end = buffer.replace(scalars.location..<scalars.end, with: edit.replacement)
                if !edit.replacement.isEmpty { pills.inserted(scalars.location..<end) }
                markdown.edited(scalars.location..<end)
            }
        }
        if !preedit.isEmpty { preeditEnd = Timeout(beforeNextEvent: { [weak self] in self?.endCommittedPreedit() }) }
    }

    /// Ends composing if the engine has made the text part of the document or discarded it, as for an edit by anything
    /// but a key: the input method would commit it once more.
    private func endCommittedPreedit() {
        guard !preedit.isEmpty, viewModel.composer.preedit.isEmpty else { return }
        preedit = ""
        hasComposed = false
        isEndingPreedit = true
        defer { isEndingPreedit = false }
        textView.commitPreedit()
    }

    private func showSelection(_ selection: TextRange) {
        guard selection != bufferSelection() else { return scrollToCaret() }
        isApplying = true
        defer { isApplying = false }
        let end = mirror.scalarOffset(ofUTF16: selection.end)
        buffer.select(mirror.scalarOffset(ofUTF16: selection.location)..<end)
        scrollToCaret()
    }

    private func showWholeText() {
        let text = mirror.text
        isApplying = true
        buffer.setText(text)
        isApplying = false
        markdown.edited(0..<mirror.scalarCount)
        spelling.show(viewModel.misspelled, in: TextRange(location: 0, length: mirror.length), of: mirror)
        showSelection(viewModel.composer.selection)
    }

    /// Suppresses suggestions of input methods and on-screen keyboards while the composer's own list is open (SLK-26,
    /// HKW-24).
    func setCompleting(_ isCompleting: Bool) {
        guard hints.isOverridden != isCompleting else { return }
        if isCompleting {
            hints = OverridableSetting(textView.inputHints)
            hints.override(with: GTK_INPUT_HINT_NO_SPELLCHECK.rawValue)
        } else {
            hints.restore()
        }
        textView.inputHints = hints.value
    }

    // MARK: Mentions and images

    private func showImages() {
        isApplying = true
        let isTouched = inlineImages.update(viewModel.document, viewModel.composer.attachments)
        isApplying = false
        if isTouched { showSelection(viewModel.composer.selection) }
    }

    private func showPills() {
        let view = ComposerTextView.of(textView)
        view?.onDraw = { [weak self] view, snapshot in
            guard let self else { return }
            self.pills.draw(view, snapshot, self.viewModel.document)
        }
        view?.onStyleChange = { [weak self] in
            self?.pills.styleChanged()
            self?.markdown.styleChanged()
            self?.spelling.styleChanged()
        }
        rendering = Rendering(
            { [viewModel] in
                SpanState(revision: viewModel.composer.revision, highlighted: viewModel.composer.highlightedMention)
            },
            { [weak self] state in
                guard let self else { return }
                self.pills.highlighted = state.highlighted
                self.pills.update(self.viewModel.document)
                self.styles.update(self.viewModel.document)
                self.markdown.isPlain = self.viewModel.document.syntax == .plain
                self.showImages()
            })
    }

    private nonisolated struct SpanState: Equatable {
        var revision: Int
        var highlighted: Span.ID?
    }

    // MARK: Offsets

    /// Converts a position in the buffer to a document offset in UTF-16 code units.
    func utf16Offset(of iterator: TextIterator) -> Int { mirror.utf16Offset(ofScalar: iterator.offset) }

    private func bufferSelection() -> TextRange { textRange(buffer.selection) }

    private func textRange(_ scalars: Range<Int>) -> TextRange {
        TextRange(
            start: mirror.utf16Offset(ofScalar: scalars.lowerBound),
            end: mirror.utf16Offset(ofScalar: scalars.upperBound))
    }
}
