import CGtk
import ChatCore
import ChatGtk
import ChatViewModels
import Composer
import GtkKit

/// Opens the window, performs user actions in it, and closes it, twice. Under valgrind there must be no invalid access,
/// and the second round must leave no closure allocated.
struct Performance {
    let gallery: Gallery

    /// - Returns: the exit status.
    func run() async -> Int32 {
        await act()
        let closures = ClosureCount.live
        await act()
        print("closures left by the second round: \(ClosureCount.live - closures)")
        return ClosureCount.live > closures ? 1 : 0
    }

    private func act() async {
        await gallery.openWindow()
        guard let coordinator = gallery.coordinator, let window = gallery.window else { return }
        if let conversation = coordinator.conversation {
            conversation.composer.handle(.insert("A message, typed\nin two lines", origin: .typed))
            conversation.composer.handle(.send)
            await gallery.pause()
            conversation.timeline.send(.composer(.editLast))
            conversation.composer.handle(.insert(" and edited", origin: .typed))
            conversation.composer.handle(.commitEdit)
            await gallery.pause()
            if let last = conversation.timeline.lastEditable { conversation.timeline.send(.message(last.id, .delete)) }
        }
        for action in ["win.new-room", "win.room-details", "win.next-region", "win.next-region"] {
            window.window.activateAction(action)
            await gallery.pause()
        }
        for dialog in Dialog.all { dialog.close() }
        coordinator.rooms.send(.selectNeighbor(1))
        await gallery.pause()
        coordinator.rooms.send(.leave(FixtureService.empty))
        await gallery.pause()
        await gallery.closeWindow()
    }
}
