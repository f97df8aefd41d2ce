import CGtk

/// One of GTK's layout managers, for a custom widget that leaves measuring and allocating to it.
public enum LayoutManager: Sendable {
    /// Gives each child the whole widget.
    case bin

    var type: GType {
        switch self {
        case .bin: gtk_bin_layout_get_type()
        }
    }
}
