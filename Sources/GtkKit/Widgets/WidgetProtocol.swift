public import CGtk

/// Represents a GtkWidget: a ``Widget`` reference, or a custom widget class's
/// ``WidgetImplementation`` and ``WidgetInstance``.
public protocol WidgetProtocol: ObjectReference {}

extension WidgetProtocol {
    /// The pointer, for the methods of the extensions in this module: their caller keeps `self` alive.
    var gtk: UnsafeMutablePointer<GtkWidget> { withPointer { $0 } }
}

/// Where a widget is placed in space that is larger than its natural size.
public enum Alignment: Sendable {
    case fill, start, end, center, baseline

    var gtk: GtkAlign {
        switch self {
        case .fill: GTK_ALIGN_FILL
        case .start: GTK_ALIGN_START
        case .end: GTK_ALIGN_END
        case .center: GTK_ALIGN_CENTER
        case .baseline: GTK_ALIGN_BASELINE
        }
    }

    init(_ align: GtkAlign) {
        self =
            switch align {
            case GTK_ALIGN_START: .start
            case GTK_ALIGN_END: .end
            case GTK_ALIGN_CENTER: .center
            case GTK_ALIGN_BASELINE: .baseline
            default: .fill
            }
    }
}

/// Whether content outside of a widget's bounds is drawn.
public enum Overflow: Sendable {
    case visible, hidden
}

/// The direction in which lines of text and rows of widgets run.
public enum TextDirection: Sendable {
    case leftToRight, rightToLeft
}

// MARK: Size and place

extension WidgetProtocol {
    public var isVisible: Bool {
        get { gtk_widget_get_visible(gtk) != 0 }
        nonmutating set { gtk_widget_set_visible(gtk, newValue ? 1 : 0) }
    }

    public var opacity: Double {
        get { gtk_widget_get_opacity(gtk) }
        nonmutating set { gtk_widget_set_opacity(gtk, newValue) }
    }

    public var hexpand: Bool {
        get { gtk_widget_get_hexpand(gtk) != 0 }
        nonmutating set { gtk_widget_set_hexpand(gtk, newValue ? 1 : 0) }
    }

    public var vexpand: Bool {
        get { gtk_widget_get_vexpand(gtk) != 0 }
        nonmutating set { gtk_widget_set_vexpand(gtk, newValue ? 1 : 0) }
    }

    public var halign: Alignment {
        get { Alignment(gtk_widget_get_halign(gtk)) }
        nonmutating set { gtk_widget_set_halign(gtk, newValue.gtk) }
    }

    public var valign: Alignment {
        get { Alignment(gtk_widget_get_valign(gtk)) }
        nonmutating set { gtk_widget_set_valign(gtk, newValue.gtk) }
    }

    public var marginTop: Int {
        get { Int(gtk_widget_get_margin_top(gtk)) }
        nonmutating set { gtk_widget_set_margin_top(gtk, gint(clamping: newValue)) }
    }

    public var marginBottom: Int {
        get { Int(gtk_widget_get_margin_bottom(gtk)) }
        nonmutating set { gtk_widget_set_margin_bottom(gtk, gint(clamping: newValue)) }
    }

    public var marginStart: Int {
        get { Int(gtk_widget_get_margin_start(gtk)) }
        nonmutating set { gtk_widget_set_margin_start(gtk, gint(clamping: newValue)) }
    }

    public var marginEnd: Int {
        get { Int(gtk_widget_get_margin_end(gtk)) }
        nonmutating set { gtk_widget_set_margin_end(gtk, gint(clamping: newValue)) }
    }

    public var overflow: Overflow {
        get { gtk_widget_get_overflow(gtk) == GTK_OVERFLOW_HIDDEN ? .hidden : .visible }
        nonmutating set {
            gtk_widget_set_overflow(gtk, newValue == .hidden ? GTK_OVERFLOW_HIDDEN : GTK_OVERFLOW_VISIBLE)
        }
    }

    /// The direction that the widget and its descendants use.
    public var textDirection: TextDirection {
        get { gtk_widget_get_direction(gtk) == GTK_TEXT_DIR_RTL ? .rightToLeft : .leftToRight }
        nonmutating set {
            gtk_widget_set_direction(gtk, newValue == .rightToLeft ? GTK_TEXT_DIR_RTL : GTK_TEXT_DIR_LTR)
        }
    }

    public var isRightToLeft: Bool { textDirection == .rightToLeft }

    /// The allocated width in pixels.
    public var width: Int { Int(gtk_widget_get_width(gtk)) }
    /// The allocated height in pixels.
    public var height: Int { Int(gtk_widget_get_height(gtk)) }
    /// The number of device pixels per pixel, at least 1.
    public var scaleFactor: Int { max(1, Int(gtk_widget_get_scale_factor(gtk))) }

    /// Sets the minimum width and height; `nil` leaves that to the widget.
    public func setSizeRequest(width: Int? = nil, height: Int? = nil) {
        gtk_widget_set_size_request(gtk, gint(clamping: width ?? -1), gint(clamping: height ?? -1))
    }

    /// The minimum and natural size in one orientation.
    /// - Parameter size: The size in the other orientation, or -1 if unconstrained.
    public func measure(_ orientation: Orientation, for size: Int = -1) -> SizeRequest {
        var (minimum, natural): (gint, gint) = (0, 0)
        gtk_widget_measure(gtk, orientation.gtk, gint(clamping: size), &minimum, &natural, nil, nil)
        return SizeRequest(minimum: Int(minimum), natural: Int(natural))
    }

    /// Allocates the widget at its parent's origin, for use in ``WidgetImplementation/allocate(width:height:)``.
    public func allocate(width: Int, height: Int) {
        gtk_widget_allocate(gtk, gint(clamping: width), gint(clamping: height), -1, nil)
    }

    /// Allocates the widget with its top left corner at `x` and `y`, in the parent's coordinates.
    public func allocate(x: Double, y: Double, width: Int, height: Int) {
        var origin = graphene_point_t(x: Float(x), y: Float(y))
        gtk_widget_allocate(
            gtk, gint(clamping: width), gint(clamping: height), -1, gsk_transform_translate(nil, &origin))
    }

    /// Whether the parent has to lay the widget out: it is visible and has no surface of its own.
    public var shouldLayout: Bool { gtk_widget_should_layout(gtk) != 0 }

    /// The natural size; the height is the natural one for that width.
    public var preferredSize: (width: Int, height: Int) {
        var natural = GtkRequisition()
        gtk_widget_get_preferred_size(gtk, nil, &natural)
        return (Int(natural.width), Int(natural.height))
    }

    /// Returns this widget's rectangle in `other`'s coordinates, or `nil` if they have no common ancestor.
    public func bounds(in other: some WidgetProtocol) -> (x: Double, y: Double, width: Double, height: Double)? {
        var rectangle = graphene_rect_t()
        guard gtk_widget_compute_bounds(gtk, other.gtk, &rectangle) != 0 else { return nil }
        return (
            Double(rectangle.origin.x), Double(rectangle.origin.y), Double(rectangle.size.width),
            Double(rectangle.size.height)
        )
    }

    /// Returns a point of this widget in `other`'s coordinates, or `nil` if they have no common ancestor.
    public func translate(x: Double, y: Double, to other: some WidgetProtocol) -> (x: Double, y: Double)? {
        var (otherX, otherY) = (0.0, 0.0)
        return shim_translate(gtk, other.gtk, x, y, &otherX, &otherY) != 0 ? (otherX, otherY) : nil
    }

    /// Returns whether a point, in the widget's coordinates, is in the widget.
    public func contains(x: Double, y: Double) -> Bool { gtk_widget_contains(gtk, x, y) != 0 }

    public func queueAllocate() { gtk_widget_queue_allocate(gtk) }
    public func queueResize() { gtk_widget_queue_resize(gtk) }
    public func queueDraw() { gtk_widget_queue_draw(gtk) }
}

// MARK: Appearance

extension WidgetProtocol {
    public func addStyle(_ cssClass: String) { gtk_widget_add_css_class(gtk, cssClass) }
    public func removeStyle(_ cssClass: String) { gtk_widget_remove_css_class(gtk, cssClass) }
    public func hasStyle(_ cssClass: String) -> Bool { gtk_widget_has_css_class(gtk, cssClass) != 0 }
    public func setStyle(_ cssClass: String, _ isOn: Bool) {
        if isOn { addStyle(cssClass) } else { removeStyle(cssClass) }
    }

    /// The name of the widget's CSS node.
    public var cssName: String { String(cString: gtk_widget_get_css_name(gtk)) }

    public var tooltip: String? {
        get { gtk_widget_get_tooltip_text(gtk).map { String(cString: $0) } }
        nonmutating set { if newValue != tooltip { setTooltip(newValue) } }
    }

    /// When the tooltip of a visible widget changes, GTK asks the display server for the pointer's position and waits
    /// for the answer. The pointer cannot be over an unmapped widget, such as one under construction, so hide it
    /// meanwhile.
    private func setTooltip(_ text: String?) {
        let isVisible = gtk_widget_get_visible(gtk) != 0 && gtk_widget_get_mapped(gtk) == 0
        if isVisible { gtk_widget_set_visible(gtk, 0) }
        gtk_widget_set_tooltip_text(gtk, text)
        if isVisible { gtk_widget_set_visible(gtk, 1) }
    }

    /// Whether GTK emits `query-tooltip` to ask for a tooltip.
    public var hasTooltip: Bool {
        get { gtk_widget_get_has_tooltip(gtk) != 0 }
        nonmutating set { gtk_widget_set_has_tooltip(gtk, newValue ? 1 : 0) }
    }

    /// Sets the pointer's shape over the widget by its CSS name; `nil` uses the parent's.
    public func setCursor(_ name: String?) { gtk_widget_set_cursor_from_name(gtk, name) }

    /// The color of the widget's text.
    public var color: GdkRGBA {
        var color = GdkRGBA()
        shim_widget_color(gtk, &color)
        return color
    }

    /// Returns a color that the theme defines, or `nil` if it defines none with this name.
    public func namedColor(_ name: String) -> GdkRGBA? {
        var color = GdkRGBA()
        return shim_named_color(gtk, name, &color) != 0 ? color : nil
    }

    /// The height of a line of the widget's font, or `nil` without a font.
    public var lineHeight: Double? {
        guard let context = gtk_widget_get_pango_context(gtk),
            let metrics = pango_context_get_metrics(context, nil, nil)
        else { return nil }
        defer { pango_font_metrics_unref(metrics) }
        return Double(pango_font_metrics_get_height(metrics)) / Double(PANGO_SCALE)
    }

    /// Whether the desktop wants animations.
    public var enablesAnimations: Bool { adw_get_enable_animations(gtk) != 0 }

    /// The start of the current frame in microseconds, or `nil` while the widget is not realized.
    public var frameTime: Int64? { gtk_widget_get_frame_clock(gtk).map { Int64(gdk_frame_clock_get_frame_time($0)) } }
    /// The number of the current frame, or `nil` while the widget is not realized.
    public var frameCounter: Int64? {
        gtk_widget_get_frame_clock(gtk).map { Int64(gdk_frame_clock_get_frame_counter($0)) }
    }
    /// The clock that drives the widget's frames, or `nil` while it is not realized.
    public var frameClock: Object? {
        gtk_widget_get_frame_clock(gtk).map { Object(borrowing: UnsafeMutableRawPointer($0)) }
    }
}
