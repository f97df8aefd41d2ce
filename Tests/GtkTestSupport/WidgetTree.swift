import CGtk
public import GtkKit

/// What is in a widget, as its user finds it.
extension Widget {
    /// Every widget below this one.
    public final var descendants: [Widget] { children.flatMap { [$0] + $0.descendants } }

    /// The texts of the labels that are seen.
    public final var visibleTexts: [String] {
        descendants.filter { $0.isMapped && shim_is_a($0.pointer, gtk_label_get_type()) != 0 }.map {
            String(cString: gtk_label_get_text($0.cast()))
        }
    }

    /// The button on which this stands, without its mnemonic's underscore; nil if none is seen.
    public final func button(_ text: String) -> Widget? {
        descendants.first {
            $0.isMapped && shim_is_a($0.pointer, gtk_button_get_type()) != 0 && $0.visibleTexts.contains(text)
        }
    }

    /// What the user does with the pointer on a button.
    public final func activate() { gtk_widget_activate(cast()) }

    /// The open windows.
    public static var windows: [Widget] {
        guard let list = gtk_window_list_toplevels() else { return [] }
        defer { g_list_free(list) }
        return (0..<g_list_length(list)).compactMap { g_list_nth_data(list, $0).map { Widget(borrowing: $0) } }
    }
}
