public import CGtk

/// A position in a text buffer, invalidated by any edit of the buffer. Offsets count Unicode scalars.
public struct TextIterator {
    /// The value that C functions fill and read; it owns nothing.
    var iterator = GtkTextIter()

    public var offset: Int { reading { Int(gtk_text_iter_get_offset($0)) } }
    public var line: Int { reading { Int(gtk_text_iter_get_line($0)) } }
    public var startsLine: Bool { reading { gtk_text_iter_starts_line($0) != 0 } }
    public var isEnd: Bool { reading { gtk_text_iter_is_end($0) != 0 } }
    /// The anchor of a child widget at this position, if there is one.
    public var childAnchor: TextChildAnchor? {
        reading { gtk_text_iter_get_child_anchor($0).map { TextChildAnchor(borrowing: $0) } }
    }

    public func hasTag(_ tag: TextTag) -> Bool { reading { gtk_text_iter_has_tag($0, tag.cast()) != 0 } }

    /// Returns the text up to `end`, with U+FFFC where a child widget is.
    public func slice(to end: TextIterator) -> String {
        reading { start in
            end.reading { end in
                guard let text = gtk_text_iter_get_slice(start, end) else { return "" }
                defer { g_free(text) }
                return String(cString: text)
            }
        }
    }

    public mutating func moveToLineStart() { gtk_text_iter_set_line_offset(&iterator, 0) }
    /// Moves before the line break.
    public mutating func moveToLineEnd() {
        if gtk_text_iter_ends_line(&iterator) == 0 { gtk_text_iter_forward_to_line_end(&iterator) }
    }
    /// Moves after the line break, or to the end of the text.
    public mutating func moveToNextLine() { gtk_text_iter_forward_line(&iterator) }
    /// - Returns: `false` at the start of the text.
    public mutating func moveBackward() -> Bool { gtk_text_iter_backward_char(&iterator) != 0 }

    private func reading<R>(_ body: (UnsafePointer<GtkTextIter>) -> R) -> R {
        withUnsafePointer(to: iterator, body)
    }
}

/// An anchor for a child widget in a text buffer.
public final class TextChildAnchor: Object {
    /// Whether the character that the anchor stands for was deleted.
    public var isDeleted: Bool { gtk_text_child_anchor_get_deleted(cast()) != 0 }
}

/// The text of a ``TextView``.
public final class TextBuffer: Object {
    public func setText(_ text: String) { gtk_text_buffer_set_text(cast(), text, gint(text.utf8.count)) }
    public func disableUndo() { gtk_text_buffer_set_enable_undo(cast(), 0) }

    public var lineCount: Int { Int(gtk_text_buffer_get_line_count(cast())) }
    /// The number of Unicode scalars.
    public var scalarCount: Int { Int(gtk_text_buffer_get_char_count(cast())) }

    public var start: TextIterator { iterator { gtk_text_buffer_get_start_iter(cast(), $0) } }
    public var caret: TextIterator {
        iterator { gtk_text_buffer_get_iter_at_mark(cast(), $0, gtk_text_buffer_get_insert(cast())) }
    }

    /// - Parameter offset: In Unicode scalars; clamped to the text.
    public func iterator(at offset: Int) -> TextIterator {
        iterator { gtk_text_buffer_get_iter_at_offset(cast(), $0, gint(clamping: offset)) }
    }

    /// Returns the start of a line.
    public func iterator(atLine line: Int) -> TextIterator {
        iterator { gtk_text_buffer_get_iter_at_line(cast(), $0, gint(clamping: line)) }
    }

    private func iterator(_ fill: (UnsafeMutablePointer<GtkTextIter>) -> Void) -> TextIterator {
        var result = TextIterator()
        fill(&result.iterator)
        return result
    }

    /// The selection in Unicode scalars; empty at the caret.
    public var selection: Range<Int> {
        var (start, end) = (GtkTextIter(), GtkTextIter())
        gtk_text_buffer_get_selection_bounds(cast(), &start, &end)
        return Int(gtk_text_iter_get_offset(&start))..<Int(gtk_text_iter_get_offset(&end))
    }

    /// Selects a range in Unicode scalars, with the caret at its end.
    public func select(_ range: Range<Int>) {
        var (start, end) = (iterator(at: range.lowerBound), iterator(at: range.upperBound))
        gtk_text_buffer_select_range(cast(), &end.iterator, &start.iterator)
    }

    /// Runs `body` as one change for input methods and accessibility.
    public func userAction(_ body: () -> Void) {
        gtk_text_buffer_begin_user_action(cast())
        body()
        gtk_text_buffer_end_user_action(cast())
    }

    /// Replaces a range.
    /// - Parameter range: In Unicode scalars.
    /// - Returns: The end of the replacement, in Unicode scalars.
    @discardableResult
    public func replace(_ range: Range<Int>, with text: String) -> Int {
        var start = iterator(at: range.lowerBound)
        if !range.isEmpty {
            var end = iterator(at: range.upperBound)
            gtk_text_buffer_delete(cast(), &start.iterator, &end.iterator)
        }
        if !text.isEmpty { gtk_text_buffer_insert(cast(), &start.iterator, text, gint(text.utf8.count)) }
        return start.offset
    }

    /// Replaces the character at an offset with an anchor for a child widget.
    public func replaceWithAnchor(at offset: Int) -> TextChildAnchor? {
        replace(offset..<offset + 1, with: "")
        var start = iterator(at: offset)
        return gtk_text_buffer_create_child_anchor(cast(), &start.iterator).map { TextChildAnchor(borrowing: $0) }
    }

    // MARK: Signals

    /// Calls `handler` before text is inserted at an offset in Unicode scalars.
    ///
    /// A handler that returns `true` has performed the insertion itself: GTK then inserts nothing, and assumes
    /// that the inserted text ends at the caret.
    public func interceptInsertion(_ handler: @escaping @MainActor (String, _ offset: Int) -> Bool) {
        connect("insert-text") { [weak self] arguments in
            guard let self, let location = arguments.boxed(0)?.assumingMemoryBound(to: GtkTextIter.self) else { return }
            let text = arguments.string(1, byteCount: arguments.int(2))
            guard handler(text, Int(gtk_text_iter_get_offset(location))) else { return }
            g_signal_stop_emission_by_name(pointer, "insert-text")
            // The emitter expects this iterator to stay valid and to point after the inserted text.
            gtk_text_buffer_get_iter_at_mark(cast(), location, gtk_text_buffer_get_insert(cast()))
        }
    }

    /// The outcome of an intercepted deletion.
    public enum Deletion {
        /// GTK deletes the range.
        case allowed
        /// The handler performed the deletion; GTK assumes that it took place at the caret.
        case performed
        /// The handler has not deleted anything yet.
        case deferred
    }

    /// Calls `handler` before a range in Unicode scalars is deleted.
    public func interceptDeletion(_ handler: @escaping @MainActor (Range<Int>) -> Deletion) {
        connect("delete-range") { [weak self] arguments in
            guard let self, let start = arguments.boxed(0)?.assumingMemoryBound(to: GtkTextIter.self),
                let end = arguments.boxed(1)?.assumingMemoryBound(to: GtkTextIter.self)
            else { return }
            let bounds = (Int(gtk_text_iter_get_offset(start)), Int(gtk_text_iter_get_offset(end)))
            let deletion = handler(min(bounds.0, bounds.1)..<max(bounds.0, bounds.1))
            guard deletion != .allowed else { return }
            g_signal_stop_emission_by_name(pointer, "delete-range")
            guard deletion == .performed else { return }
            gtk_text_buffer_get_iter_at_mark(cast(), start, gtk_text_buffer_get_insert(cast()))
            gtk_text_buffer_get_iter_at_mark(cast(), end, gtk_text_buffer_get_insert(cast()))
        }
    }

    /// Calls `handler` after the text has changed.
    public func onChange(_ handler: @escaping @MainActor () -> Void) -> SignalConnection {
        connect("changed") { _ in handler() }
    }

    /// Calls `handler` when the caret or the other end of the selection has moved.
    @discardableResult
    public func onSelectionMark(_ handler: @escaping @MainActor () -> Void) -> SignalConnection {
        connect("mark-set") { [weak self] arguments in
            guard let self, let mark = arguments.object(1) else { return }
            let isOfSelection =
                mark == UnsafeMutableRawPointer(gtk_text_buffer_get_insert(cast()))
                || mark == UnsafeMutableRawPointer(gtk_text_buffer_get_selection_bound(cast()))
            if isOfSelection { handler() }
        }
    }
}

/// A multiline text editor.
public final class TextView: Widget {
    public convenience init() { self.init(sinking: gtk_text_view_new()) }

    public var buffer: TextBuffer {
        guard let buffer = gtk_text_view_get_buffer(cast()) else { fatalError("a text view has a buffer") }
        return TextBuffer(borrowing: UnsafeMutableRawPointer(buffer))
    }

    /// Copies the wrap mode and the input hints of another view.
    public func copySettings(of other: TextView) {
        gtk_text_view_set_wrap_mode(cast(), gtk_text_view_get_wrap_mode(other.cast()))
        inputHints = other.inputHints
    }

    /// Whether Tab is typed rather than moving the focus.
    public var acceptsTab: Bool {
        get { gtk_text_view_get_accepts_tab(cast()) != 0 }
        set { gtk_text_view_set_accepts_tab(cast(), newValue ? 1 : 0) }
    }

    /// The raw value of GtkInputHints.
    public var inputHints: UInt32 {
        get { UInt32(gtk_text_view_get_input_hints(cast()).rawValue) }
        set { gtk_text_view_set_input_hints(cast(), GtkInputHints(rawValue: GtkInputHints.RawValue(newValue))) }
    }

    /// Makes the view read-only, with lines wrapped at words.
    public func makeReadOnly() {
        gtk_text_view_set_editable(cast(), 0)
        isCaretVisible = false
        gtk_text_view_set_wrap_mode(cast(), GTK_WRAP_WORD_CHAR)
    }

    /// Commits the input method's preedit text.
    public func commitPreedit() { gtk_text_view_reset_im_context(cast()) }

    /// Whether the caret is drawn while the view has the focus. Keys that move the caret scroll while it is not.
    public var isCaretVisible: Bool {
        get { gtk_text_view_get_cursor_visible(cast()) != 0 }
        set { gtk_text_view_set_cursor_visible(cast(), newValue ? 1 : 0) }
    }

    /// Calls `handler` before a key binding moves the caret.
    public func onCaretKey(_ handler: @escaping @MainActor () -> Void) -> SignalConnection {
        connect("move-cursor") { _ in handler() }
    }

    /// Calls `handler` with the input method's preedit text when it changes.
    @discardableResult
    public func onPreeditChange(_ handler: @escaping @MainActor (String) -> Void) -> SignalConnection {
        connect("preedit-changed") { handler($0.string(0)) }
    }

    /// The operation of one of the view's own key bindings.
    public enum KeyBinding: Equatable, Sendable {
        /// Deletes the character before the caret.
        case backspace
        /// Deletes characters or up to word ends; backward if the count is negative.
        case deleteCharacters(Int), deleteToWordEnds(Int)
        /// Another deletion, such as of a line.
        case deleteOther
        case cut, copy, paste
    }

    /// Calls `handler` before a key binding is handled.
    /// - Parameter handler: Returns whether it has handled the binding.
    public func interceptBindings(_ handler: @escaping @MainActor (KeyBinding) -> Bool) {
        let bindings: [(String, KeyBinding)] = [
            ("backspace", .backspace), ("cut-clipboard", .cut), ("copy-clipboard", .copy), ("paste-clipboard", .paste),
        ]
        for (signal, binding) in bindings {
            connect(signal) { arguments in
                if handler(binding) { Self.stop(signal, arguments) }
            }
        }
        connect("delete-from-cursor") { arguments in
            let count = arguments.int(1)
            let binding: KeyBinding =
                switch GtkDeleteType(GtkDeleteType.RawValue(arguments.enumeration(0))) {
                case GTK_DELETE_CHARS: .deleteCharacters(count)
                case GTK_DELETE_WORD_ENDS: .deleteToWordEnds(count)
                default: .deleteOther
                }
            if handler(binding) { Self.stop("delete-from-cursor", arguments) }
        }
    }

    private static func stop(_ signal: String, _ arguments: SignalArguments) {
        if let view = arguments.emitter { g_signal_stop_emission_by_name(view, signal) }
    }

    public func add(_ child: Widget, at anchor: TextChildAnchor) {
        gtk_text_view_add_child_at_anchor(cast(), child.cast(), anchor.cast())
    }

    /// Scrolls the caret into view by the shortest distance.
    public func scrollToCaret() {
        gtk_text_view_scroll_mark_onscreen(cast(), gtk_text_buffer_get_insert(gtk_text_view_get_buffer(cast())))
    }

    /// The rectangle of a character, in buffer coordinates.
    public func location(of iterator: TextIterator) -> GdkRectangle {
        var (place, frame) = (iterator.iterator, GdkRectangle())
        gtk_text_view_get_iter_location(cast(), &place, &frame)
        return frame
    }

    /// The rectangle of a character, in the view's coordinates.
    public func rectangle(of iterator: TextIterator) -> GdkRectangle {
        let frame = location(of: iterator)
        var (x, y): (gint, gint) = (0, 0)
        gtk_text_view_buffer_to_window_coords(cast(), GTK_TEXT_WINDOW_WIDGET, frame.x, frame.y, &x, &y)
        return GdkRectangle(x: x, y: y, width: frame.width, height: frame.height)
    }

    /// Returns the position nearest to a point in the view's coordinates.
    public func iterator(x: Double, y: Double) -> TextIterator {
        var (bufferX, bufferY): (gint, gint) = (0, 0)
        gtk_text_view_window_to_buffer_coords(
            cast(), GTK_TEXT_WINDOW_WIDGET, gint(x), gint(y), &bufferX, &bufferY)
        var result = TextIterator()
        gtk_text_view_get_iter_at_location(cast(), &result.iterator, bufferX, bufferY)
        return result
    }

    /// Moves to the start of the next display line.
    /// - Returns: `false` on the last line, at whose end the iterator then is.
    public func moveToNextDisplayLine(_ iterator: inout TextIterator) -> Bool {
        gtk_text_view_forward_display_line(cast(), &iterator.iterator) != 0
    }
}
