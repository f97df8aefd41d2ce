import GtkKit

/// Message search: in the open room, and in all rooms.
extension MainWindow {
    func findInRoom() {
        panes.visiblePane = .content
        conversationView?.openSearch()
    }

    func openSearch() {
        panes.visiblePane = .sidebar
        rooms.isVisible = false
        searchPane.open()
    }

    func searchClosed() {
        searchPane.widget.isVisible = false
        rooms.isVisible = true
        if panes.isFolded { roomList?.grabFocus() } else { conversationView?.focusComposer() }
    }

    func searchChose() { if panes.isFolded { panes.visiblePane = .content } }
}
