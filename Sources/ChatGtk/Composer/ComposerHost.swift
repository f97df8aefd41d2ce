public import CGtk
public import GtkKit

/// A conversation's frame: any content, what is told of it underneath, and the composer at the foot (SLK-1, SLK-3).
///
/// It is a GType, `ParlanceComposerHost`. The content is whatever the host makes — a GtkListView, a GtkGridView, a
/// scrolled window, a plain label — and gives way first when the composer grows. In `.ui` files a `<child>` is the
/// content, `<child type="indicator">` a widget that tells who types (SLK-42), `<child type="overlay">` lies over the
/// content, and `<child type="composer">` puts another bar in the place of the host's own.
public final class ComposerHost: WidgetImplementation {
    public override class var typeName: String { "ParlanceComposerHost" }
    public override class var cssName: String { "composerhost" }
    public override class var role: GtkAccessibleRole { GTK_ACCESSIBLE_ROLE_GROUP }
    public override class var layoutManager: GType? { gtk_bin_layout_get_type() }
    public override class var properties: [WidgetProperty] {
        [
            .flag("shows-indicator", default: false, \ComposerHost.showsIndicator),
            .number("maximum-width", default: 0, in: 0...10_000, \ComposerHost.maximumWidth),
        ]
    }

    private let overlay = Widget(sinking: gtk_overlay_new())
    private let indicatorRevealer = Revealer(sinking: gtk_revealer_new())
    private let foot = Box(.vertical)
    private let clamp = Widget(sinking: adw_clamp_new())
    private var composer: Widget?

    public required init(pointer: UnsafeMutableRawPointer) {
        super.init(pointer: pointer)
        let column = Box(.vertical)
        gtk_widget_set_vexpand(overlay.cast(), 1)
        gtk_revealer_set_transition_type(indicatorRevealer.cast(), GTK_REVEALER_TRANSITION_TYPE_SLIDE_UP)
        let bottom = Box(.vertical)
        bottom.append(indicatorRevealer)
        bottom.append(foot)
        adw_clamp_set_child(clamp.cast(), bottom.cast())
        clampBottom()
        column.append(overlay)
        column.append(clamp)
        gtk_widget_set_parent(column.cast(), cast())
        // Only GTK's own containers ask for what their children would like.
        gtk_widget_set_vexpand(cast(), 1)
        // One that brings its own bar needs no other.
        column.connect("realize") { [weak self] _ in _ = self?.bar }
    }

    /// Makes the type known to GtkBuilder, and the library's files to GTK. Harmless to repeat.
    public static func register() throws(Resource.Missing) {
        try ComposerBar.register()
        _ = type
    }

    /// The bar at the foot, made when it is first asked for or shown; nil if the host has put something in its place that is
    /// none.
    public var bar: ComposerBar? {
        if composer == nil { setComposer(ComposerBar.make()) }
        return composer.flatMap { ComposerBar.of($0) }
    }

    /// The widest that the bar and the indicator get, in pixels; 0 for as wide as the content.
    public var maximumWidth = 0 {
        didSet { clampBottom() }
    }

    private func clampBottom() {
        let width = Int32(maximumWidth > 0 ? maximumWidth : 100_000)
        adw_clamp_set_maximum_size(clamp.cast(), width)
        adw_clamp_set_tightening_threshold(clamp.cast(), width)
    }

    /// What the messages are in. One that cannot scroll by itself is put in a scrolled window.
    public func setContent(_ content: Widget?) {
        gtk_overlay_set_child(overlay.cast(), nil)
        guard let content else { return }
        if Self.isWhole(content) {
            gtk_overlay_set_child(overlay.cast(), content.cast())
        } else {
            let scroller = ScrolledWindow(content)
            gtk_overlay_set_child(overlay.cast(), scroller.cast())
        }
    }

    /// Whether it scrolls by itself or does not know how to.
    private static func isWhole(_ content: Widget) -> Bool {
        shim_is_a(content.pointer, gtk_scrolled_window_get_type()) != 0
            || shim_is_a(content.pointer, gtk_scrollable_get_type()) == 0
    }

    /// What tells that somebody types, between the content and the bar; it pushes the content (SLK-3, SLK-42).
    public func setIndicator(_ indicator: Widget?) {
        gtk_revealer_set_child(indicatorRevealer.cast(), indicator?.cast())
    }

    /// Whether the indicator is shown; it slides.
    public var showsIndicator: Bool {
        get { indicatorRevealer.isRevealed }
        set { indicatorRevealer.isRevealed = newValue }
    }

    /// Puts something over the content, as a button that leads to the newest message.
    public func addOverlay(_ widget: Widget) { gtk_overlay_add_overlay(overlay.cast(), widget.cast()) }

    /// Another bar, or anything that stands in its place.
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
