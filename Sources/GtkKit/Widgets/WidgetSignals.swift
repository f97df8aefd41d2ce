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
    public func onMap(_ handler: @escaping @MainActor (Widget) -> Void) { connectEmitter("map", handler) }
    /// Calls `handler` with the widget when it leaves the screen.
    public func onUnmap(_ handler: @escaping @MainActor (Widget) -> Void) { connectEmitter("unmap", handler) }

    private func connectEmitter(_ signal: String, _ handler: @escaping @MainActor (Widget) -> Void) {
        connect(signal) { arguments in
            if let emitter = arguments.emitter { handler(Widget(borrowing: emitter)) }
        }
    }
}
