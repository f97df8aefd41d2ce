import CGtk
public import GtkKit

/// Finding widgets by what the user sees.
extension Widget {
    /// All descendants, in depth-first order.
    public final var descendants: [Widget] { children.flatMap { [$0] + $0.descendants } }

    /// The texts of all mapped labels.
    public final var visibleTexts: [String] {
        descendants.filter { $0.isMapped && $0.isInstance(of: gtk_label_get_type()) }.map {
            $0.withRawPointer { Label(borrowing: $0).text }
        }
    }

    /// The mapped button with this label, without the mnemonic underscore, or `nil` if there is none.
    public final func button(_ text: String) -> Widget? {
        descendants.first {
            $0.isMapped && $0.isInstance(of: gtk_button_get_type()) && $0.visibleTexts.contains(text)
        }
    }

    /// Activates the widget, like a click on a button.
    public final func activate() { withPointer { _ = gtk_widget_activate($0) } }

    /// The toplevel windows.
    public static var windows: [Widget] {
        guard let list = gtk_window_list_toplevels() else { return [] }
        defer { g_list_free(list) }
        return (0..<g_list_length(list)).compactMap { g_list_nth_data(list, $0).map { Widget(borrowing: $0) } }
    }
}
