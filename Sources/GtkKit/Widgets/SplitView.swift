import CGtk

/// A sidebar beside a content, or one of the two if there is not enough room: AdwNavigationSplitView in a libadwaita
/// that has it (1.4), AdwLeaflet before.
public final class SplitView: Widget {
    /// - Parameters:
    ///   - builder: A `.ui` file with an AdwLeaflet in an AdwBin, whose pages are `rooms` and `conversation`.
    ///   - sidebarWidth: The width in logical pixels, like `foldWidth`, the maximum width of a window that folds them.
    public convenience init(
        _ builder: Builder, _ id: String, in window: TopLevel, sidebarWidth: Int, foldWidth: Int, sidebarTitle: String,
        contentTitle: String
    ) {
        let leaflet: Widget = builder[id]
        let view = shim_split_view(
            leaflet.pointer, window.pointer, gint(clamping: sidebarWidth), gint(clamping: foldWidth), sidebarTitle,
            contentTitle)
        self.init(borrowing: view ?? leaflet.pointer)
    }

    /// Whether there is only room for one of the two.
    public var isFolded: Bool { isOn(Self.folding) }

    /// Which of the two a folded view displays.
    public var showsContent: Bool {
        get { shim_split_view_shows_content(pointer) != 0 }
        set { shim_split_view_show_content(pointer, newValue ? 1 : 0) }
    }

    public func onFold(_ handler: @escaping @MainActor () -> Void) {
        connect("notify::\(Self.folding)") { _ in handler() }
    }

    private static let folding = String(cString: shim_split_view_folding())
}
