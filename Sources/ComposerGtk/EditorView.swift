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
    let textView: Widget
    let buffer: Object
    private let viewModel: any ComposerModel
    /// A copy of the buffer's text that converts offsets in O(log n).
    private var mirror: ComposerDocument
    private var isApplying = false
    /// A deleted selection, deferred until the insertion that may follow, so that both become one edit.
    private var pendingDeletion: TextRange?
    private var preedit = ""
    /// Whether the preedit text has just ended: the next insertion is the committed text.
    private var hasComposed = false
    let markdown: MarkdownStyler
    private let pills: MentionPills
    private let styles: StyleTags
    let inlineImages: InlineImages
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

    init(textView: Widget, viewModel: any ComposerModel) {
        self.textView = textView
        self.viewModel = viewModel
        mirror = viewModel.document
        guard let pointer = gtk_text_view_get_buffer(textView.cast()) else { fatalError("a text view has a buffer") }
        buffer = Object(borrowing: UnsafeMutableRawPointer(pointer))
        gtk_text_buffer_set_enable_undo(buffer.cast(), 0)
        markdown = MarkdownStyler(textView: textView, buffer: buffer, rules: viewModel.markdownRules)
        // Created before the pills: later tags have a higher priority, so the pills' text color wins.
        styles = StyleTags(textView: textView, buffer: buffer)
        pills = MentionPills(textView: textView, buffer: buffer)
        inlineImages = InlineImages(textView: textView, buffer: buffer)
        showWholeText()
        interceptBuffer()
        interceptKeys()
        interceptBindings()
        viewModel.onTextEffect = { [weak self] in self?.apply($0) }
        textView.connect("preedit-changed") { [weak self] in self?.preeditChanged($0.string(0)) }
        showPills()
        textView.connect("notify::has-focus") { [weak self] _ in
            guard let self else { return }
            self.viewModel.handle(.focus(self.textView.hasFocus))
        }
    }

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
        buffer.connect("insert-text") { [weak self] arguments in
            guard let self, !self.isApplying, let location = arguments.boxed(0) else { return }
            self.stopEmission("insert-text")
            self.userInserts(arguments.string(1, byteCount: Int(arguments.int(2))), at: iterator(location))
        }
        buffer.connect("delete-range") { [weak self] arguments in
            guard let self, !self.isApplying, let start = arguments.boxed(0), let end = arguments.boxed(1) else {
                return
            }
            self.stopEmission("delete-range")
            self.userDeletes(from: iterator(start), to: iterator(end))
        }
        buffer.connect("end-user-action") { [weak self] _ in self?.carryOutPendingDeletion() }
        buffer.connect("mark-set") { [weak self] arguments in
            guard let self, !self.isApplying, let mark = arguments.object(1) else { return }
            let isSelectionMark =
                mark == UnsafeMutableRawPointer(gtk_text_buffer_get_insert(self.buffer.cast()))
                || mark == UnsafeMutableRawPointer(gtk_text_buffer_get_selection_bound(self.buffer.cast()))
            if isSelectionMark { self.viewModel.handle(.select(self.bufferSelection())) }
        }
    }

    private func userInserts(_ text: String, at location: UnsafeMutablePointer<GtkTextIter>) {
        let offset = utf16Offset(of: location)
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
        // The emitter expects this iterator to stay valid and to point behind the inserted text.
        gtk_text_buffer_get_iter_at_mark(buffer.cast(), location, gtk_text_buffer_get_insert(buffer.cast()))
    }

    private func userDeletes(
        from start: UnsafeMutablePointer<GtkTextIter>, to end: UnsafeMutablePointer<GtkTextIter>
    ) {
        let range = TextRange(start: utf16Offset(of: start), end: utf16Offset(of: end))
        if range == bufferSelection(), !range.isEmpty {
            pendingDeletion = range
            return
        }
        viewModel.handle(.edit(range, replacement: "", origin: .typed))
        let caret = gtk_text_buffer_get_insert(buffer.cast())
        gtk_text_buffer_get_iter_at_mark(buffer.cast(), start, caret)
        gtk_text_buffer_get_iter_at_mark(buffer.cast(), end, caret)
    }

    private func carryOutPendingDeletion() {
        guard let range = pendingDeletion else { return }
        pendingDeletion = nil
        viewModel.handle(.edit(range, replacement: "", origin: .typed))
    }

    private func preeditChanged(_ text: String) {
        hasComposed = text.isEmpty && !preedit.isEmpty
        preedit = text
        viewModel.handle(.preedit(text))
    }

    // MARK: Keys

    private func interceptKeys() {
        let keys = Object(owning: UnsafeMutableRawPointer(gtk_event_controller_key_new()))
        gtk_event_controller_set_propagation_phase(keys.cast(), GTK_PHASE_CAPTURE)
        keys.intercept("key-pressed") { [weak self] arguments in
            guard let self, self.preedit.isEmpty else { return false }
            self.hasComposed = false
            guard
                let chord = KeyChord(keyval: arguments.uint(0), modifiers: arguments.flags(2))
            else { return false }
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
        textView.connect("backspace") { [weak self] _ in
            self?.redirect("backspace", .deleteBackward(byWord: false))
        }
        textView.connect("delete-from-cursor") { [weak self] arguments in
            let count = arguments.int(1)
            switch GtkDeleteType(GtkDeleteType.RawValue(arguments.enumeration(0))) {
            case GTK_DELETE_CHARS where count == 1: self?.redirect("delete-from-cursor", .deleteForward(byWord: false))
            case GTK_DELETE_WORD_ENDS where count == 1:
                self?.redirect("delete-from-cursor", .deleteForward(byWord: true))
            case GTK_DELETE_WORD_ENDS where count == -1:
                self?.redirect("delete-from-cursor", .deleteBackward(byWord: true))
            default: break
            }
        }
        textView.connect("cut-clipboard") { [weak self] _ in self?.redirect("cut-clipboard", .cut) }
        textView.connect("copy-clipboard") { [weak self] _ in self?.redirect("copy-clipboard", .copy) }
        textView.connect("paste-clipboard") { [weak self] _ in
            guard let self else { return }
            g_signal_stop_emission_by_name(self.textView.pointer, "paste-clipboard")
            self.paste()
        }
    }

    private func redirect(_ signal: String, _ event: ComposerEvent) {
        g_signal_stop_emission_by_name(textView.pointer, signal)
        viewModel.handle(event)
    }

    /// Commits the input method's preedit text.
    func commitPreedit() { gtk_text_view_reset_im_context(textView.cast()) }

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

    // MARK: From the engine to the buffer

    private func apply(_ effect: ComposerEffect) {
        switch effect {
        case .edited(let edits): apply(edits)
        case .selectionChanged(let selection): showSelection(selection)
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
        gtk_text_buffer_begin_user_action(buffer.cast())
        for edit in edits {
            let scalars = mirror.mirror(edit)
            pills.track(edit)
            styles.track(edit)
            var (start, end) = (GtkTextIter(), GtkTextIter())
            gtk_text_buffer_get_iter_at_offset(buffer.cast(), &start, Int32(scalars.location))
            if !scalars.isEmpty {
                gtk_text_buffer_get_iter_at_offset(buffer.cast(), &end, Int32(scalars.end))
                gtk_text_buffer_delete(buffer.cast(), &start, &end)
            }
            if !edit.replacement.isEmpty {
                gtk_text_buffer_insert(buffer.cast(), &start, edit.replacement, Int32(edit.replacement.utf8.count))
                pills.inserted(scalars.location..<Int(gtk_text_iter_get_offset(&start)))
            }
            markdown.edited(scalars.location..<Int(gtk_text_iter_get_offset(&start)))
        }
        gtk_text_buffer_end_user_action(buffer.cast())
    }

    private func showSelection(_ selection: TextRange) {
        guard selection != bufferSelection() else { return scrollToCaret() }
        isApplying = true
        defer { isApplying = false }
        var (start, end) = (GtkTextIter(), GtkTextIter())
        gtk_text_buffer_get_iter_at_offset(
            buffer.cast(), &start, Int32(mirror.scalarOffset(ofUTF16: selection.location)))
        gtk_text_buffer_get_iter_at_offset(buffer.cast(), &end, Int32(mirror.scalarOffset(ofUTF16: selection.end)))
        gtk_text_buffer_select_range(buffer.cast(), &end, &start)
        scrollToCaret()
    }

    private func showWholeText() {
        let text = mirror.text
        isApplying = true
        gtk_text_buffer_set_text(buffer.cast(), text, Int32(text.utf8.count))
        isApplying = false
        markdown.edited(0..<mirror.scalarCount)
        showSelection(viewModel.composer.selection)
    }

    /// Suppresses suggestions of input methods and on-screen keyboards while the composer's own list is open (SLK-26,
    /// HKW-24).
    func setCompleting(_ isCompleting: Bool) {
        guard hints.isOverridden != isCompleting else { return }
        if isCompleting {
            hints = OverridableSetting(gtk_text_view_get_input_hints(textView.cast()).rawValue)
            hints.override(with: GTK_INPUT_HINT_NO_SPELLCHECK.rawValue)
        } else {
            hints.restore()
        }
        gtk_text_view_set_input_hints(textView.cast(), GtkInputHints(rawValue: hints.value))
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

    func utf16Offset(of iter: UnsafePointer<GtkTextIter>) -> Int {
        mirror.utf16Offset(ofScalar: Int(gtk_text_iter_get_offset(iter)))
    }

    private func bufferSelection() -> TextRange {
        var (start, end) = (GtkTextIter(), GtkTextIter())
        gtk_text_buffer_get_selection_bounds(buffer.cast(), &start, &end)
        return TextRange(start: utf16Offset(of: &start), end: utf16Offset(of: &end))
    }

    private func stopEmission(_ signal: String) {
        g_signal_stop_emission_by_name(buffer.pointer, signal)
    }
}

private func iterator(_ pointer: UnsafeMutableRawPointer) -> UnsafeMutablePointer<GtkTextIter> {
    pointer.assumingMemoryBound(to: GtkTextIter.self)
}
