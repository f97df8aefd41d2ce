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
}
