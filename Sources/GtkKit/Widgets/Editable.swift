import CGtk

/// A widget with one line of text that the user edits.
public protocol Editable: Widget {}

extension Editable {
    public var text: String {
        get { String(cString: gtk_editable_get_text(cast())) }
        set { if text != newValue { gtk_editable_set_text(cast(), newValue) } }
    }

    public var isEditable: Bool {
        get { gtk_editable_get_editable(cast()) != 0 }
        set { gtk_editable_set_editable(cast(), newValue ? 1 : 0) }
    }

    public func selectAll() { gtk_editable_select_region(cast(), 0, -1) }

    public func onChange(_ handler: @escaping @MainActor () -> Void) { connect("changed") { _ in handler() } }
}

/// A text field for search queries.
public final class SearchEntry: Widget, Editable {
    public convenience init() {
        self.init(sinking: gtk_search_entry_new())
    }

    public func setPlaceholder(_ text: String) { setProperty("placeholder-text", text) }

    /// Calls `handler` a moment after the last of several changes.
    public func onSearchChange(_ handler: @escaping @MainActor () -> Void) {
        connect("search-changed") { _ in handler() }
    }

    /// Calls `handler` on Return.
    public func onActivate(_ handler: @escaping @MainActor () -> Void) { connect("activate") { _ in handler() } }
    /// Calls `handler` on Escape.
    public func onStop(_ handler: @escaping @MainActor () -> Void) { connect("stop-search") { _ in handler() } }
}

extension Entry {
    /// Whether Return activates the window's default widget.
    public var activatesDefault: Bool {
        get { gtk_entry_get_activates_default(cast()) != 0 }
        set { gtk_entry_set_activates_default(cast(), newValue ? 1 : 0) }
    }

    /// The maximum number of characters, or 0 for no limit.
    public var maxLength: Int {
        get { Int(gtk_entry_get_max_length(cast())) }
        set { gtk_entry_set_max_length(cast(), gint(clamping: newValue)) }
    }
}
