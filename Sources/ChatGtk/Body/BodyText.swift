import CGtk
import ChatCore
import ChatViewModels
import GtkKit

/// Formatted text: a single Pango layout, with an optional selected range.
///
/// GtkLabel cannot share a selection across labels nor draw pills and spoiler covers, and is slow for long texts,
/// because it wraps by character to find its minimum width.
final class BodyText: WidgetImplementation {
    /// The minimum width, in characters.
    private static let minLineLength = 12

    override class var typeName: String { "ParlanceBodyText" }
    override class var cssName: String { "bodytext" }
    override class var role: GtkAccessibleRole { GTK_ACCESSIBLE_ROLE_PRESENTATION }

    private(set) var content = TextContent(InlineText())
    private(set) var text = ""
    private(set) var selected: Range<Int>?
    /// The matches of a search, in UTF-8 offsets.
    private(set) var highlightedRanges: [Range<Int>] = []
    /// The links, mentions and spoilers; see ``BodyText/onAction``.
    private(set) var actions: [TextAction] = []
    /// The index of the action that keys activate while the widget has the focus.
    var currentAction: Int?
    /// The indices in ``actions`` of revealed spoilers.
    var revealed: Set<Int> = []
    /// Called when the user activates a link or a mention.
    var onAction: ((TextAction) -> Void)?
    /// Called before drawing if the colors have changed since the last drawing.
    var onPaletteChange: ((TextAttributes.Palette) -> Void)?

    private var hasControllers = false
    private var isRightToLeft = false
    private var layout: Object?
    /// The colors in the layout's attributes.
    private var palette: TextAttributes.Palette?
    private var drawnPalette: TextAttributes.Palette?
    /// The width at which the layout is wrapped and its height then, in pixels.
    private var broken: (width: Int, height: Int)?
    private var natural: Int?
    /// The Pango context's serial, which changes with font and scale.
    private var contextSerial: guint = 0

    /// The number of layouts created, for tests.
    private(set) static var layoutsMade = 0

    required init(pointer: UnsafeMutableRawPointer) {
        super.init(pointer: pointer)
        gtk_widget_set_cursor_from_name(cast(), "text")
    }

    /// - Parameter selected: In UTF-8 offsets of the text, or `nil` for no selection.
    func show(_ content: TextContent, selected: Range<Int>? = nil) {
        if content != self.content {
            let isSameText = content.text == self.content.text
            self.content = content
            if isSameText {
                palette = nil
            } else {
                text = content.text.text
                isRightToLeft = text.startsRightToLeft
                layout = nil
                revealed = []
                setActions(TextAction.all(in: content.text))
            }
            forgetSizes()
            gtk_widget_queue_resize(cast())
        }
        select(selected)
    }

    func select(_ range: Range<Int>?) {
        guard range != selected else { return }
        selected = range
        gtk_widget_queue_draw(cast())
    }

    func highlight(_ ranges: [Range<Int>]) {
        guard ranges != highlightedRanges else { return }
        highlightedRanges = ranges
        gtk_widget_queue_draw(cast())
    }

    /// Adds controllers on demand: most texts have no actions.
    private func setActions(_ actions: [TextAction]) {
        self.actions = actions
        currentAction = nil
        gtk_widget_set_focusable(cast(), actions.isEmpty ? 0 : 1)
        guard !actions.isEmpty, !hasControllers else { return }
        hasControllers = true
        addControllers()
    }

    /// The UTF-8 offset nearest to a point in the widget's coordinates.
    func offset(atX x: Double, y: Double) -> Int {
        guard y >= 0 else { return 0 }
        let layout = madeLayout
        breakLines(layout, at: gtk_widget_get_width(cast()))
        guard y <= Double(broken?.height ?? 0) else { return text.utf8.count }
        var (index, trailing): (Int32, Int32) = (0, 0)
        let scale = Double(PANGO_SCALE)
        pango_layout_xy_to_index(layout.cast(), Int32((x - textX) * scale), Int32(y * scale), &index, &trailing)
        // Pango returns `trailing` in Unicode scalars, of which a grapheme cluster may have several.
        let utf8 = text.utf8
        let start = utf8.index(utf8.startIndex, offsetBy: min(Int(index), utf8.count))
        let scalars = text.unicodeScalars
        guard let end = scalars.index(start, offsetBy: Int(trailing), limitedBy: scalars.endIndex) else {
            return utf8.count
        }
        return utf8.distance(from: utf8.startIndex, to: end)
    }

    /// The index of the action at a point; covered spoilers come first.
    func action(atX x: Double, y: Double) -> Int? {
        let scale = Double(PANGO_SCALE)
        var (index, trailing): (Int32, Int32) = (0, 0)
        guard !actions.isEmpty,
            pango_layout_xy_to_index(
                madeLayout.cast(), Int32((x - textX) * scale), Int32(y * scale), &index, &trailing) != 0
        else { return nil }
        let here = actions.indices.filter { actions[$0].range.contains(Int(index)) }
        return here.first { isCovered($0) } ?? here.last { actions[$0].isTarget }
    }

    func isCovered(_ index: Int) -> Bool { !actions[index].isTarget && !revealed.contains(index) }

    // MARK: Layout

    private func forgetSizes() {
        broken = nil
        natural = nil
    }

    var madeLayout: Object {
        let serial = pango_context_get_serial(gtk_widget_get_pango_context(cast()))
        if serial != contextSerial {
            contextSerial = serial
            forgetSizes()
        }
        if let layout, palette != nil { return layout }
        let made = layout ?? makeLayout()
        let palette = currentPalette
        self.palette = palette
        if content.scale != 1 || content.isBold || content.isCode || content.text.runs.contains(where: \.isFormatted) {
            let attributes = TextAttributes.make(content, revealed: revealed, palette: palette)
            pango_layout_set_attributes(made.cast(), attributes)
            pango_attr_list_unref(attributes)
        }
        return made
    }

    private func makeLayout() -> Object {
        Self.layoutsMade += 1
        // Pango expects a C string, which ends at the first NUL.
        let made = Object(
            owning: UnsafeMutableRawPointer(
                gtk_widget_create_pango_layout(cast(), text.utf8.contains(0) ? text.replacing("\0", with: " ") : text)))
        pango_layout_set_wrap(made.cast(), PANGO_WRAP_WORD_CHAR)
        layout = made
        return made
    }

    /// Wraps lines at the natural width at most: GTK 4.8 measures the height for all the width available, but then
    /// allocates an aligned widget no more than its natural width.
    private func breakLines(_ layout: Object, at width: Int32) {
        let natural = naturalWidth()
        let width = min(Int(width), natural)
        guard broken?.width != width else { return }
        // A text at its natural width needs no wrapping.
        let isWhole = content.isCode || (width == natural && natural < maxLineWidth)
        pango_layout_set_width(layout.cast(), isWhole ? -1 : Int32(width) * PANGO_SCALE)
        var height: Int32 = 0
        pango_layout_get_pixel_size(layout.cast(), nil, &height)
        broken = (width, Int(height))
    }

    private var characterWidth: Int {
        let context = gtk_widget_get_pango_context(cast())
        let metrics = pango_context_get_metrics(context, nil, nil)
        defer { pango_font_metrics_unref(metrics) }
        return Int((Double(pango_font_metrics_get_approximate_char_width(metrics)) / Double(PANGO_SCALE)).rounded(.up))
    }

    private var maxLineWidth: Int {
        content.isCode ? Int(Int32.max / PANGO_SCALE) : content.lineLength * characterWidth
    }

    /// The x position of the text in pixels: right-to-left text is right-aligned.
    private var textX: Double {
        guard isRightToLeft, let broken else { return 0 }
        return Double(max(0, Int(gtk_widget_get_width(cast())) - broken.width))
    }

    /// The natural width: that of a short text, or the maximum line width for a long one, which need not be measured.
    private func naturalWidth() -> Int {
        let layout = madeLayout
        if let natural { return natural }
        let limit = maxLineWidth
        var width = Int32(limit)
        if content.isCode || text.utf8.count <= 4 * content.lineLength {
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
            let minimum =
                content.isCode || content.isRigid ? natural : min(natural, Self.minLineLength * characterWidth)
            return SizeRequest(minimum: minimum, natural: natural)
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
        let now = currentPalette
        if drawnPalette != now {
            drawnPalette = now
            if palette != now { palette = nil }
            onPaletteChange?(now)
        }
        let layout = madeLayout
        breakLines(layout, at: gtk_widget_get_width(cast()))
        var origin = graphene_point_t(x: Float(textX), y: 0)
        gtk_snapshot_save(snapshot)
        defer { gtk_snapshot_restore(snapshot) }
        gtk_snapshot_translate(snapshot, &origin)
        if content.text.runs.contains(where: \.isFormatted) { drawChips(snapshot, layout, now) }
        drawHighlights(snapshot, layout)
        if let selected { drawSelection(selected, layout, snapshot) }
        shim_append_layout(UnsafeMutableRawPointer(snapshot), pointer, layout.pointer)
        if !actions.isEmpty { drawCovers(snapshot, layout, now) }
    }

    override func dispose() {
        layout = nil
        super.dispose()
    }
}

extension String {
    /// Whether the first letter with a direction belongs to a right-to-left script.
    fileprivate var startsRightToLeft: Bool {
        for scalar in unicodeScalars {
            switch g_unichar_get_script(scalar.value) {
            case G_UNICODE_SCRIPT_COMMON, G_UNICODE_SCRIPT_INHERITED: continue
            case G_UNICODE_SCRIPT_ARABIC, G_UNICODE_SCRIPT_HEBREW, G_UNICODE_SCRIPT_SYRIAC, G_UNICODE_SCRIPT_THAANA,
                G_UNICODE_SCRIPT_NKO:
                return true
            default: return false
            }
        }
        return false
    }
}
