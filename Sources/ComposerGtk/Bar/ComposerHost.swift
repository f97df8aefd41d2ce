public import CGtk
public import GtkKit

/// The layout of a conversation: any content, an indicator below it, and the composer at the bottom (SLK-1, SLK-3).
///
/// Its GType is `ParlanceComposerHost`. The content can be any widget, such as a GtkListView, a scrolled window or a
/// label; it shrinks first when the composer grows. In `.ui` files, a plain `<child>` is the content,
/// `<child type="indicator">` a typing indicator (SLK-42), `<child type="overlay">` lies over the content, and
/// `<child type="composer">` replaces the default bar.
public final class ComposerHost: WidgetImplementation {
    public override class var typeName: String { "ParlanceComposerHost" }
    public override class var cssName: String { "composerhost" }
    public override class var role: GtkAccessibleRole { GTK_ACCESSIBLE_ROLE_GROUP }
    public override class var layoutManager: LayoutManager? { .bin }
    public override class var properties: [WidgetProperty] {
        [
            .flag("shows-indicator", default: false, \ComposerHost.showsIndicator),
            .number("maximum-width", default: 0, in: 0...10_000, \ComposerHost.maxWidth),
        ]
    }

    private let overlay = Overlay()
    private let indicatorRevealer = Revealer(.slideUp)
    private let foot = Box(.vertical)
    private let clamp = Clamp()
    private var composer: Widget?

    public required init(instance: WidgetInstance) {
        super.init(instance: instance)
        let column = Box(.vertical)
        overlay.vexpand = true
        let bottom = Box(.vertical)
        bottom.append(indicatorRevealer)
        bottom.append(foot)
        clamp.setChild(bottom)
        clampBottom()
        column.append(overlay)
        column.append(clamp)
        column.setParent(self)
        // Set explicitly, because custom widgets do not inherit their children's expand flags.
        vexpand = true
        // Creates the default bar late, because the host may have set another one by then.
        column.onRealize { [weak self] _ in _ = self?.bar }
    }

    /// Registers the GType with GtkBuilder, and the library's resources with GTK. Idempotent.
    /// - Throws: `ResourceBundle.Missing` if the resources are not at the install or build location.
    public static func register() throws(ResourceBundle.Missing) {
        try ComposerBar.register()
        _ = type
    }

    /// The bar at the bottom, created on first access or when realized, or `nil` if the host has replaced it with
    /// another type of widget.
    public var bar: ComposerBar? {
        if composer == nil { setComposer(ComposerBar.make()) }
        return composer.flatMap { ComposerBar.of($0) }
    }

    /// The maximum width of the bar and the indicator in pixels, or 0 for the width of the content.
    public var maxWidth = 0 {
        didSet { clampBottom() }
    }

    private func clampBottom() {
        let width = maxWidth > 0 ? maxWidth : 100_000
        clamp.setSize(maximum: width, tighteningThreshold: width)
    }

    /// Sets the widget that shows the messages. Scrollable widgets without a scrolled window get one.
    public func setContent(_ content: Widget?) {
        overlay.setChild(nil)
        guard let content else { return }
        if Self.isWhole(content) {
            overlay.setChild(content)
        } else {
            let scroller = ScrolledWindow(content)
            overlay.setChild(scroller)
        }
    }

    /// Whether the widget needs no scrolled window around it.
    private static func isWhole(_ content: Widget) -> Bool {
        !content.isScrollable
    }

    /// Sets the typing indicator between the content and the bar. It pushes the content up (SLK-3, SLK-42).
    public func setIndicator(_ indicator: Widget?) {
        indicatorRevealer.setChild(indicator)
    }

    /// Whether the indicator is shown. Changes are animated.
    public var showsIndicator: Bool {
        get { indicatorRevealer.isRevealed }
        set { indicatorRevealer.isRevealed = newValue }
    }

    /// Adds a widget on top of the content, for example a button that jumps to the newest message.
    public func addOverlay(_ widget: Widget) { overlay.addOverlay(widget) }

    /// Replaces the bar with another one, or with any other widget.
    public func setComposer(_ widget: Widget) {
        if let composer { foot.remove(composer) }
        composer = widget
        foot.append(widget)
    }

    public override func add(_ child: Widget, to childType: String?) -> Bool {
        switch childType {
        case nil, "content": setContent(child)
        case "indicator": setIndicator(child)
        case "overlay": addOverlay(child)
        case "composer": setComposer(child)
        default: return false
        }
        return true
    }
}
