import GtkKit

/// The room list beside the conversation, folded into one pane in a narrow window.
final class SplitPane {
    enum Pane {
        case sidebar, content
    }

    private let view: SplitView

    init(_ builder: Builder, in window: TopLevel) {
        // The width for the sidebar, the separator and the narrowest conversation.
        view = SplitView(
            builder, "panes", in: window, sidebarWidth: 300, foldWidth: 660, sidebarTitle: translated("Rooms"),
            contentTitle: translated("Messages"))
    }

    var isFolded: Bool { view.isFolded }

    var visiblePane: Pane {
        get { view.showsContent ? .content : .sidebar }
        set { view.showsContent = newValue == .content }
    }

    func onFold(_ handler: @escaping @MainActor () -> Void) { view.onFold(handler) }
}
