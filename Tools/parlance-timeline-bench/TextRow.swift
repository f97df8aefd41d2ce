import GtkKit

/// A minimal row: one paragraph drawn by one PangoLayout, the same in all compared lists.
final class TextRow: WidgetImplementation {
    override class var typeName: String { "ParlanceBenchTextRow" }
    override class var cssName: String { "row" }
    private static let padding = 6

    /// The number of line-breaking passes.
    private(set) static var layouts = 0
    private(set) static var liveCount = 0

    private var layout: TextLayout?
    private var layoutWidth = -1
    private var layoutHeight = 0
    private(set) var taller = 0

    required init(instance: WidgetInstance) {
        super.init(instance: instance)
        Self.liveCount += 1
        isFocusable = true
    }

    isolated deinit { Self.liveCount -= 1 }

    func show(_ text: String) {
        layout = TextLayout(text, in: self)
        layoutWidth = -1
        queueResize()
    }

    /// Adds empty space below the text, in pixels, like an image that finishes loading.
    func set(taller: Int) {
        guard taller != self.taller else { return }
        self.taller = taller
        queueResize()
    }

    override func measure(_ orientation: Orientation, for size: Int) -> SizeRequest {
        guard orientation == .vertical else { return SizeRequest(minimum: 200, natural: 400) }
        breakLines(size > 0 ? size : 400)
        let height = layoutHeight + 2 * Self.padding + taller
        return SizeRequest(minimum: height, natural: height)
    }

    override func allocate(width: Int, height: Int) { breakLines(width) }

    override func snapshot(_ snapshot: Snapshot) {
        guard let layout else { return }
        let padding = Double(Self.padding)
        snapshot.translated(x: padding, y: padding) { snapshot.draw(layout: layout, of: self) }
    }

    private func breakLines(_ width: Int) {
        guard let layout, width != layoutWidth else { return }
        Self.layouts += 1
        layoutWidth = width
        layout.setWidth(max(1, width - 2 * Self.padding))
        layoutHeight = layout.size.height
    }
}
