import CGtk

/// A GTK layout manager that measures and allocates the children of a custom widget.
public enum LayoutManager: Sendable {
    /// Gives each child the whole widget.
    case bin

    var type: GType {
        switch self {
        case .bin: gtk_bin_layout_get_type()
        }
    }
}
