import CGtk

extension Widget {
    /// Asks `text` for the tooltip at a point each time the pointer rests; `nil` shows none.
    public func onTooltip(_ text: @escaping @MainActor (_ x: Double, _ y: Double) -> String?) {
        hasTooltip = true
        intercept("query-tooltip") { arguments in
            // A tooltip requested by keyboard has no point.
            guard !arguments.bool(2), let tooltip = arguments.object(3),
                let text = text(Double(arguments.int(0)), Double(arguments.int(1)))
            else { return false }
            gtk_tooltip_set_text(OpaquePointer(tooltip), text)
            return true
        }
    }

    /// Calls `handler` with the widget when it is about to be shown on the screen.
    @discardableResult
    public func onMap(_ handler: @escaping @MainActor (Widget) -> Void) -> SignalConnection {
        connectEmitter("map", handler)
    }

    /// Calls `handler` with the widget when it leaves the screen.
    @discardableResult
    public func onUnmap(_ handler: @escaping @MainActor (Widget) -> Void) -> SignalConnection {
        connectEmitter("unmap", handler)
    }

    /// Calls `handler` with the widget once it has a surface to draw on.
    @discardableResult
    public func onRealize(_ handler: @escaping @MainActor (Widget) -> Void) -> SignalConnection {
        connectEmitter("realize", handler)
    }

    /// Calls `handler` with the widget before it loses its surface.
    @discardableResult
    public func onUnrealize(_ handler: @escaping @MainActor (Widget) -> Void) -> SignalConnection {
        connectEmitter("unrealize", handler)
    }

    /// Calls `handler` with the widget when its ``WidgetProtocol/stateFlags`` change.
    @discardableResult
    public func onStateFlagsChange(_ handler: @escaping @MainActor (Widget) -> Void) -> SignalConnection {
        connectEmitter("state-flags-changed", handler)
    }

    /// Calls `handler` with the widget when it gains or loses the focus in the active window.
    @discardableResult
    public func onFocusChange(_ handler: @escaping @MainActor (Widget) -> Void) -> SignalConnection {
        connectEmitter("notify::has-focus", handler)
    }

    /// Calls `handler` when the widget is destroyed.
    @discardableResult
    public func onDestroy(_ handler: @escaping @MainActor () -> Void) -> SignalConnection {
        connect("destroy") { _ in handler() }
    }

    private func connectEmitter(_ signal: String, _ handler: @escaping @MainActor (Widget) -> Void) -> SignalConnection
    {
        connect(signal) { arguments in
            if let emitter = arguments.emitter { handler(Widget(borrowing: emitter)) }
        }
    }

    // MARK: Layout of the window

    /// Calls `handler` in each frame after all widgets of the window are allocated, when it may cause another layout in
    /// the same frame. The frame clock belongs to the window: disconnect when the widget leaves it.
    /// - Returns: `nil` while the widget is not realized.
    public func afterFrameLayout(_ handler: @escaping @MainActor () -> Void) -> SignalConnection? {
        frameClock?.connect("layout", after: true) { _ in handler() }
    }

    /// Calls `handler` when the widget's surface, such as its window's, is resized. The surface belongs to the window:
    /// disconnect when the widget leaves it.
    /// - Returns: `nil` while the widget has no surface.
    public func onSurfaceLayout(_ handler: @escaping @MainActor () -> Void) -> SignalConnection? {
        surface?.connect("layout") { _ in handler() }
    }

    // MARK: Classes

    /// The widget as a text view, or `nil` if it is another widget.
    public var asTextView: TextView? { wrapped(as: TextView.self, gtk_text_view_get_type()) }
    /// The widget as an overlay, or `nil` if it is another widget.
    public var asOverlay: Overlay? { wrapped(as: Overlay.self, gtk_overlay_get_type()) }
    /// Whether the widget scrolls its content itself, and must be in a scrolled window (GtkScrollable).
    public var isScrollable: Bool { isInstance(of: gtk_scrollable_get_type()) }
}
