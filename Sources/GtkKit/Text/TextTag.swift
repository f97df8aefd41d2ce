public import CGtk

/// A GtkTextTag: formatting for ranges of a text buffer.
public final class TextTag: Object {
    /// Adds a new tag to the buffer's tag table. Later tags have higher priority.
    public convenience init(in buffer: TextBuffer) {
        let tag = UnsafeMutableRawPointer(gtk_text_tag_new(nil)!)
        self.init(owning: tag)
        gtk_text_tag_table_add(gtk_text_buffer_get_tag_table(buffer.cast()), cast())
    }

    /// - Parameter range: In Unicode scalars; clamped to the text.
    public func apply(to range: Range<Int>, in buffer: TextBuffer) {
        withIterators(range, buffer) { gtk_text_buffer_apply_tag(buffer.cast(), cast(), $0, $1) }
    }

    /// - Parameter range: In Unicode scalars; clamped to the text.
    public func remove(from range: Range<Int>, in buffer: TextBuffer) {
        withIterators(range, buffer) { gtk_text_buffer_remove_tag(buffer.cast(), cast(), $0, $1) }
    }

    public func setItalic() { setEnumeration("style", Int32(PANGO_STYLE_ITALIC.rawValue), pango_style_get_type()) }
    public func setBold() { setProperty("weight", Int(PANGO_WEIGHT_BOLD.rawValue)) }
    public func setUnderlined() {
        setEnumeration("underline", Int32(PANGO_UNDERLINE_SINGLE.rawValue), pango_underline_get_type())
    }

    /// Underlines with the wave that marks misspelled words, also for assistive technology.
    public func setMisspelled(_ color: GdkRGBA) {
        setEnumeration("underline", Int32(PANGO_UNDERLINE_ERROR.rawValue), pango_underline_get_type())
        setProperty("underline-rgba", color)
    }

    private func withIterators(
        _ range: Range<Int>, _ buffer: TextBuffer,
        _ body: (UnsafeMutablePointer<GtkTextIter>, UnsafeMutablePointer<GtkTextIter>) -> Void
    ) {
        guard !range.isEmpty else { return }
        var (start, end) = (GtkTextIter(), GtkTextIter())
        gtk_text_buffer_get_iter_at_offset(buffer.cast(), &start, Int32(clamping: range.lowerBound))
        gtk_text_buffer_get_iter_at_offset(buffer.cast(), &end, Int32(clamping: range.upperBound))
        body(&start, &end)
    }
}
