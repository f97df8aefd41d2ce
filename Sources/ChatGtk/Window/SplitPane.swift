import CGtk
import GtkKit

/// Two panes side by side that fold into one in a narrow window (AdwLeaflet, which all supported libadwaita versions
/// have).
final class SplitPane {
    enum Pane: String {
        case sidebar = "rooms"
        case content = "conversation"
    }

    private let leaflet: Widget

    init(_ leaflet: Widget) {
        self.leaflet = leaflet
    }

    var isFolded: Bool { adw_leaflet_get_folded(leaflet.cast()) != 0 }

    var visiblePane: Pane {
        get {
            adw_leaflet_get_visible_child_name(leaflet.cast()).flatMap { Pane(rawValue: String(cString: $0)) }
                ?? .sidebar
        }
        set { adw_leaflet_set_visible_child_name(leaflet.cast(), newValue.rawValue) }
    }

    func onFold(_ handler: @escaping @MainActor () -> Void) { leaflet.connect("notify::folded") { _ in handler() } }
}
