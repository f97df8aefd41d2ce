import GtkKit

/// Two panes side by side that fold into one in a narrow window (AdwLeaflet, which all supported libadwaita versions
/// have).
final class SplitPane {
    enum Pane: String {
        case sidebar = "rooms"
        case content = "conversation"
    }

    private let leaflet: Leaflet

    init(_ leaflet: Leaflet) {
        self.leaflet = leaflet
    }

    var isFolded: Bool { leaflet.isFolded }

    var visiblePane: Pane {
        get {
            leaflet.visibleChildName.flatMap { Pane(rawValue: $0) } ?? .sidebar
        }
        set { leaflet.visibleChildName = newValue.rawValue }
    }

    func onFold(_ handler: @escaping @MainActor () -> Void) { leaflet.onFold(handler) }
}
