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
    /// The maximum width in pixels, however large the text: that of a bubble without its padding.
    static let maxWidth = 576
    /// The least distance between the last line and ``corner``.
    private static let cornerGap = 9

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
    var revealed: Set<Int> = [] {
        didSet { if revealed != oldValue { queueDraw() } }
    }
    /// Called when the user reveals or covers a spoiler.
    var onReveal: (() -> Void)?
    /// Called when the user activates a link or a mention.
    var onAction: ((TextAction) -> Void)?
    /// Called before drawing if the colors have changed since the last drawing.
    var onPaletteChange: ((BodyAttributes.Palette) -> Void)?

    /// Returns the size of what covers the lower trailing corner, which the last line stays clear of; `nil` if nothing
    /// does.
    var corner: (() -> (width: Int, height: Int))? {
        didSet {
            guard corner != nil || oldValue != nil else { return }
            // Each update of a message sets it, mostly to what has the same size.
            if let cornerSize, let size = corner?(), size == cornerSize { return }
            forgetSizes()
            queueResize()
        }
    }

    private var hasControllers = false
    private var isRightToLeft = false
    private var layout: TextLayout?
    /// The colors in the layout's attributes.
    private var palette: BodyAttributes.Palette?
    private var drawnPalette: BodyAttributes.Palette?
    private var broken: BrokenLines?
    /// The size of what is in the corner, as the lines were broken for it.
    private var cornerSize: (width: Int, height: Int)?
    /// What was measured. GTK asks for the height at several widths, again and again.
    private var measured: [BrokenLines] = []
    private var natural: Int?
    /// Whether no line is wrapped at the natural width.
    private var isNaturalUnwrapped = false
    /// The Pango context's serial, which changes with font and scale.
    private var contextSerial: UInt32 = 0

    /// The layout at a width, in pixels.
    private struct BrokenLines {
        var width: Int
        var height: Int
        /// The text's distance from the left edge, if the widget has this width.
        var left = 0
        /// The height added below the text for what is in the corner.
        var cornerHeight = 0
    }

    /// The number of layouts created, for tests.
    private(set) static var layoutsMade = 0
    /// The number of times that lines were broken, for tests.
    private(set) static var breakings = 0

    required init(instance: WidgetInstance) {
        super.init(instance: instance)
        setCursor("text")
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
                isRightToLeft = !content.isCode && text.startsRightToLeft
                layout = nil
                revealed = []
                setActions(TextAction.all(in: content.text))
            }
            forgetSizes()
            queueResize()
        }
        select(selected)
    }

    func select(_ range: Range<Int>?) {
        guard range != selected else { return }
        selected = range
        queueDraw()
    }

    func highlight(_ ranges: [Range<Int>]) {
        guard ranges != highlightedRanges else { return }
        highlightedRanges = ranges
        queueDraw()
    }

    /// Adds controllers on demand: most texts have no actions.
    private func setActions(_ actions: [TextAction]) {
        self.actions = actions
        currentAction = nil
        isFocusable = !actions.isEmpty
        guard !actions.isEmpty, !hasControllers else { return }
        hasControllers = true
        addControllers()
    }

    /// The UTF-8 offset nearest to a point in the widget's coordinates.
    func offset(atX x: Double, y: Double) -> Int {
        guard y >= 0 else { return 0 }
        let layout = madeLayout
        breakLines(layout, at: width)
        guard y <= Double(broken?.height ?? 0) else { return text.utf8.count }
        let position = layout.position(atX: x - textX, y: y)
        let utf8 = text.utf8
        let start = utf8.index(utf8.startIndex, offsetBy: min(position.offset, utf8.count))
        let scalars = text.unicodeScalars
        guard let end = scalars.index(start, offsetBy: position.trailingScalars, limitedBy: scalars.endIndex) else {
            return utf8.count
        }
        return utf8.distance(from: utf8.startIndex, to: end)
    }

    /// The index of the action at a point; covered spoilers come first.
    func action(atX x: Double, y: Double) -> Int? {
        guard !actions.isEmpty else { return nil }
        let position = madeLayout.position(atX: x - textX, y: y)
        guard position.isInside else { return nil }
        let here = actions.indices.filter { actions[$0].range.contains(position.offset) }
        return here.first { isCovered($0) } ?? here.last { actions[$0].isTarget }
    }

    func isCovered(_ index: Int) -> Bool { !actions[index].isTarget && !revealed.contains(index) }

    // MARK: Layout

    private func forgetSizes() {
        broken = nil
        measured = []
        natural = nil
        cornerSize = nil
    }

    var madeLayout: TextLayout {
        if fontSerial != contextSerial {
            contextSerial = fontSerial
            forgetSizes()
        }
        if let layout, palette != nil { return layout }
        let made = layout ?? makeLayout()
        let palette = currentPalette
        self.palette = palette
        if content.scale != 1 || content.isBold || content.isCode || content.text.runs.contains(where: \.isFormatted) {
            made.setAttributes(BodyAttributes.make(content, palette: palette))
        }
        return made
    }

    private func makeLayout() -> TextLayout {
        Self.layoutsMade += 1
        // Pango expects a C string, which ends at the first NUL.
        let made = TextLayout(text.utf8.contains(0) ? text.replacing("\0", with: " ") : text, in: self)
        layout = made
        return made
    }

    /// Wraps lines at the natural width at most: GTK 4.8 measures the height for all the width available, but then
    /// allocates an aligned widget no more than its natural width.
    private func breakLines(_ layout: TextLayout, at width: Int) {
        let natural = naturalWidth()
        let width = min(width, natural)
        guard broken?.width != width else { return }
        // A text at its natural width needs no wrapping.
        let isWhole = content.isCode || (width == natural && isNaturalUnwrapped)
        layout.setWidth(isWhole ? nil : width)
        let size = layout.size
        Self.breakings += 1
        var lines = BrokenLines(width: width, height: size.height)
        if let corner = measuredCorner() {
            // On the side that is not the corner's, the text is next to its edge.
            if isWhole, widget.isRightToLeft { lines.left = width - size.width }
            let edges = layout.lastLineEdges
            let room = widget.isRightToLeft ? lines.left + edges.left : width - lines.left - edges.right
            if room < corner.width + Self.cornerGap { lines.cornerHeight = corner.height }
        }
        broken = lines
    }

    private func measuredCorner() -> (width: Int, height: Int)? {
        cornerSize = corner?()
        return cornerSize
    }

    private func height(at width: Int) -> Int {
        let layout = madeLayout
        let width = min(width, naturalWidth())
        if let known = measured.first(where: { $0.width == width }) { return known.height + known.cornerHeight }
        breakLines(layout, at: width)
        guard let broken else { return 0 }
        if measured.count == Self.measuredLimit { measured.removeFirst() }
        measured.append(broken)
        return broken.height + broken.cornerHeight
    }

    private static let measuredLimit = 8

    private var characterWidth: Int { Int(approximateCharacterWidth.rounded(.up)) }

    private var maxLineWidth: Int {
        content.isCode ? TextLayout.maxWidth : min(content.lineLength * characterWidth, Self.maxWidth)
    }

    /// The x position of the text in pixels: right-to-left text is right-aligned.
    var textX: Double {
        guard let broken else { return 0 }
        return Double(broken.left + (isRightToLeft || broken.left > 0 ? max(0, width - broken.width) : 0))
    }

    /// The natural width: that of a short text, or the maximum line width for a long one, which need not be measured.
    private func naturalWidth() -> Int {
        let layout = madeLayout
        if let natural { return natural }
        let limit = maxLineWidth
        var width = limit
        isNaturalUnwrapped = false
        if content.isCode || text.utf8.count <= 4 * content.lineLength {
            layout.setWidth(nil)
            width = min(layout.size.width, limit)
            isNaturalUnwrapped = width < limit
            if isNaturalUnwrapped, let corner = measuredCorner() {
                let edges = layout.lastLineEdges
                let beside = edges.right - edges.left + Self.cornerGap + corner.width
                // Slightly exceeding the line width is better than adding a line only for the corner.
                if beside <= Self.maxWidth { width = max(width, beside) }
            }
            broken = nil
        }
        natural = width
        return width
    }

    override func measure(_ orientation: Orientation, for size: Int) -> SizeRequest {
        switch orientation {
        case .horizontal:
            let natural = naturalWidth()
            let minimum =
                content.isCode || content.isRigid ? natural : min(natural, Self.minLineLength * characterWidth)
            return SizeRequest(minimum: minimum, natural: natural)
        case .vertical:
            let height = height(at: size < 0 ? naturalWidth() : size)
            return SizeRequest(minimum: height, natural: height)
        }
    }

    override func allocate(width: Int, height: Int) {
        breakLines(madeLayout, at: width)
    }

    override func snapshot(_ snapshot: Snapshot) {
        let now = currentPalette
        if drawnPalette != now {
            drawnPalette = now
            if palette != now { palette = nil }
            onPaletteChange?(now)
        }
        let layout = madeLayout
        breakLines(layout, at: width)
        snapshot.translated(x: textX, y: 0) {
            if content.text.runs.contains(where: \.isFormatted) { drawChips(snapshot, layout, now) }
            drawHighlights(snapshot, layout)
            if let selected { drawSelection(selected, layout, snapshot) }
            snapshot.draw(layout: layout, of: self)
            if !actions.isEmpty { drawCovers(snapshot, layout, now) }
        }
    }

    override func dispose() {
        layout = nil
        super.dispose()
    }
}
