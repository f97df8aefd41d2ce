import CGtk
import GtkKit

/// The text of a message: one Pango layout, of which a part may be drawn as selected.
///
/// A label could neither share a selection with other labels nor take long texts as quickly.
final class TextBlock: WidgetImplementation {
    /// Characters after which lines are broken at the latest.
    static let lineLength = 62
    /// The fewest that a text is pressed into.
    private static let leastLineLength = 12

    override class var typeName: String { "ParlanceTextBlock" }
    override class var cssName: String { "textblock" }
    override class var role: GtkAccessibleRole { GTK_ACCESSIBLE_ROLE_PRESENTATION }

    private(set) var text = ""
    private(set) var selected: Range<Int>?
    private var layout: Object?
    /// The width that the layout is broken at, in pixels, and its height then.
    private var broken: (width: Int, height: Int)?
    private var natural: Int?
    /// Counts changes of font and scale.
    private var contextSerial: guint = 0

    /// How many layouts were made, for tests.
    private(set) static var layoutsMade = 0

    required init(pointer: UnsafeMutableRawPointer) {
        super.init(pointer: pointer)
        gtk_widget_set_cursor_from_name(cast(), "text")
    }

    /// - Parameter selected: in UTF-8 units of the text; nil for nothing.
    func show(_ text: String, selected: Range<Int>?) {
        if text != self.text {
            self.text = text
            layout = nil
            broken = nil
            natural = nil
            gtk_widget_queue_resize(cast())
        }
        select(selected)
    }

    func select(_ range: Range<Int>?) {
        guard range != selected else { return }
        selected = range
        gtk_widget_queue_draw(cast())
    }

    /// The place in the text nearest to a point in the widget's coordinates, in UTF-8 units.
    func offset(atX x: Double, y: Double) -> Int {
        guard y >= 0 else { return 0 }
        let layout = madeLayout
        breakLines(layout, at: gtk_widget_get_width(cast()))
        guard y <= Double(broken?.height ?? 0) else { return text.utf8.count }
        var (index, trailing): (Int32, Int32) = (0, 0)
        let scale = Double(PANGO_SCALE)
        pango_layout_xy_to_index(layout.cast(), Int32(x * scale), Int32(y * scale), &index, &trailing)
        // What trails is counted in characters of Unicode, an emoji of several of them is one.
        let utf8 = text.utf8
        let start = utf8.index(utf8.startIndex, offsetBy: min(Int(index), utf8.count))
        let scalars = text.unicodeScalars
        guard let end = scalars.index(start, offsetBy: Int(trailing), limitedBy: scalars.endIndex) else {
            return utf8.count
        }
        return utf8.distance(from: utf8.startIndex, to: end)
    }

    // MARK: Layout

    private var madeLayout: Object {
        let serial = pango_context_get_serial(gtk_widget_get_pango_context(cast()))
        if serial != contextSerial {
            contextSerial = serial
            broken = nil
            natural = nil
        }
        if let layout { return layout }
        Self.layoutsMade += 1
        let made = Object(owning: UnsafeMutableRawPointer(gtk_widget_create_pango_layout(cast(), text)))
        pango_layout_set_wrap(made.cast(), PANGO_WRAP_WORD_CHAR)
        layout = made
        return made
    }

    private func breakLines(_ layout: Object, at width: Int32) {
        guard broken?.width != Int(width) else { return }
        pango_layout_set_width(layout.cast(), width * PANGO_SCALE)
        var height: Int32 = 0
        pango_layout_get_pixel_size(layout.cast(), nil, &height)
        broken = (Int(width), Int(height))
    }

    private var characterWidth: Int {
        let context = gtk_widget_get_pango_context(cast())
        let metrics = pango_context_get_metrics(context, nil, nil)
        defer { pango_font_metrics_unref(metrics) }
        return Int((Double(pango_font_metrics_get_approximate_char_width(metrics)) / Double(PANGO_SCALE)).rounded(.up))
    }

    /// What the text would like: short ones what they need, long ones whole lines, which need not be measured.
    private func naturalWidth() -> Int {
        let layout = madeLayout
        if let natural { return natural }
        let limit = Self.lineLength * characterWidth
        var width: Int32 = Int32(limit)
        if text.utf8.count <= 4 * Self.lineLength {
            pango_layout_set_width(layout.cast(), -1)
            pango_layout_get_pixel_size(layout.cast(), &width, nil)
            broken = nil
        }
        natural = min(Int(width), limit)
        return natural ?? limit
    }

    override func measure(_ orientation: Orientation, for size: Int) -> SizeRequest {
        switch orientation {
        case .horizontal:
            let natural = naturalWidth()
            return SizeRequest(minimum: min(natural, Self.leastLineLength * characterWidth), natural: natural)
        case .vertical:
            breakLines(madeLayout, at: Int32(size < 0 ? naturalWidth() : size))
            let height = broken?.height ?? 0
            return SizeRequest(minimum: height, natural: height)
        }
    }

    override func allocate(width: Int, height: Int) {
        breakLines(madeLayout, at: Int32(width))
    }

    override func snapshot(_ snapshot: OpaquePointer) {
        let layout = madeLayout
        breakLines(layout, at: gtk_widget_get_width(cast()))
        if let selected { drawSelection(selected, layout, snapshot) }
        gtk_snapshot_render_layout(snapshot, gtk_widget_get_style_context(cast()), 0, 0, layout.cast())
    }

    private func drawSelection(_ range: Range<Int>, _ layout: Object, _ snapshot: OpaquePointer) {
        var ranges = [Int32(range.lowerBound), Int32(range.upperBound)]
        guard let region = gdk_pango_layout_get_clip_region(layout.cast(), 0, 0, &ranges, 1) else { return }
        defer { cairo_region_destroy(region) }
        var color = GdkRGBA(red: 0.2, green: 0.5, blue: 0.9, alpha: 1)
        _ = gtk_style_context_lookup_color(gtk_widget_get_style_context(cast()), "accent_bg_color", &color)
        color.alpha = 0.35
        for index in 0..<cairo_region_num_rectangles(region) {
            var part = cairo_rectangle_int_t()
            cairo_region_get_rectangle(region, index, &part)
            var bounds = graphene_rect_t()
            graphene_rect_init(&bounds, Float(part.x), Float(part.y), Float(part.width), Float(part.height))
            gtk_snapshot_append_color(snapshot, &color, &bounds)
        }
    }

    override func dispose() {
        layout = nil
        super.dispose()
    }
}
