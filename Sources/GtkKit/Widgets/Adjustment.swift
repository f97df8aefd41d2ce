import CGtk

/// A scroll position and its bounds, in pixels.
public final class Adjustment: Object {
    public var value: Double {
        get { gtk_adjustment_get_value(cast()) }
        set { gtk_adjustment_set_value(cast(), newValue) }
    }
    public var lower: Double { gtk_adjustment_get_lower(cast()) }
    public var upper: Double { gtk_adjustment_get_upper(cast()) }
    public var pageSize: Double { gtk_adjustment_get_page_size(cast()) }

    public func onValueChange(_ handler: @escaping @MainActor () -> Void) -> SignalConnection {
        connect("value-changed") { _ in handler() }
    }

    public func onUpperChange(_ handler: @escaping @MainActor () -> Void) -> SignalConnection {
        connect("notify::upper") { _ in handler() }
    }

    public func onPageSizeChange(_ handler: @escaping @MainActor () -> Void) -> SignalConnection {
        connect("notify::page-size") { _ in handler() }
    }
}
