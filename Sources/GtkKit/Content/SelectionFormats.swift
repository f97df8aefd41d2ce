import CGtk
public import Foundation

extension TextBuffer {
    /// Offers the selection in another format besides plain text to the text views of this program, which read it with
    /// ``ContentOffer/selection(as:)``.
    ///
    /// GTK itself puts each new selection on the primary clipboard, as a reference to its buffer.
    ///
    /// - Parameters:
    ///   - type: The MIME type.
    ///   - data: Called each time the format is read, and only then; `nil` offers nothing.
    public func offerSelection(as type: String, _ data: @escaping @MainActor () -> Data?) {
        let box = Unmanaged.passRetained(ClosureBox<SelectionFormats.Source>(data))
        g_object_set_qdata_full(cast(), SelectionFormats.quark(of: type), box.toOpaque()) { box in
            if let box { Unmanaged<ClosureBox<SelectionFormats.Source>>.fromOpaque(box).release() }
        }
    }
}

extension ContentOffer {
    /// Returns what is selected in a text buffer of this program in a format that ``TextBuffer/offerSelection(as:_:)``
    /// offers; `nil` if the content is anything else.
    public func selection(as type: String) -> Data? {
        guard !isDrop, let provider = gdk_clipboard_get_content(cast()) else { return nil }
        var value = GValue()
        g_value_init(&value, gtk_text_buffer_get_type())
        defer { g_value_unset(&value) }
        guard gdk_content_provider_get_value(provider, &value, nil) != 0, let buffer = g_value_get_object(&value),
            let box = g_object_get_qdata(
                buffer.assumingMemoryBound(to: GObject.self), SelectionFormats.quark(of: type))
        else { return nil }
        return Unmanaged<ClosureBox<SelectionFormats.Source>>.fromOpaque(box).takeUnretainedValue().closure()
    }
}

private enum SelectionFormats {
    typealias Source = @MainActor () -> Data?

    static func quark(of type: String) -> GQuark { g_quark_from_string("parlance-selection-\(type)") }
}
