import ChatCore
import ChatViewModels
import GtkKit
import MediaGtk

/// Asks which room to forward messages to; the list is filtered as the user types.
final class ForwardDialog {
    private let widget: Dialog
    private let search: SearchEntry
    private let list: ListBox
    private let scroller: Widget
    private let nothing: StatusPage
    private let find: @MainActor (String) -> [RoomListViewModel.Row]
    private let onChoose: @MainActor (RoomID) -> Void
    private let avatarLoader: AvatarLoader
    private var rooms: [RoomID] = []
    /// The text that the listed rooms match.
    private var filteredText: String?
    private var avatars: [AvatarView] = []

    /// Presents the dialog, which retains itself until it is closed.
    /// - Parameters:
    ///   - find: Returns the rooms that match the text.
    ///   - avatarLoader: Loads the rooms' avatars.
    ///   - choose: Called with the chosen room.
    static func present(
        over parent: Widget, find: @escaping @MainActor (String) -> [RoomListViewModel.Row],
        avatarLoader: AvatarLoader, choose: @escaping @MainActor (RoomID) -> Void
    ) {
        let dialog = ForwardDialog(find: find, avatarLoader: avatarLoader, choose: choose)
        dialog.widget.retain([dialog])
        dialog.widget.present(over: parent)
        dialog.search.grabFocus()
    }

    private init(
        find: @escaping @MainActor (String) -> [RoomListViewModel.Row], avatarLoader: AvatarLoader,
        choose: @escaping @MainActor (RoomID) -> Void
    ) {
        self.find = find
        self.avatarLoader = avatarLoader
        onChoose = choose
        let builder = Builder(resource: Resource.ui("forward"))
        widget = Dialog(builder)
        search = builder["search"]
        list = builder["rooms"]
        scroller = builder["scroller"]
        nothing = builder["nothing"]
        search.onSearchChange { [weak self] in self?.filter() }
        // Return chooses the first room.
        search.onActivate { [weak self] in
            guard let self else { return }
            // GtkSearchEntry delays `search-changed`: filter by the current text first. If the listed rooms match it,
            // the user has seen which is the first: a message that came since may have moved another one to the top.
            if search.text != filteredText { filter() }
            self.choose(at: 0)
        }
        search.onStop { [weak self] in self?.close() }
        list.onRowActivated { [weak self] in self?.choose(at: $0) }
        filter()
    }

    private func filter() {
        let text = search.text
        let found = find(text)
        filteredText = text
        rooms = found.map(\.id)
        avatars = []
        list.removeAll()
        for room in found {
            let row = ActionRow(room.name)
            row.isActivatable = true
            let avatar = AvatarView(size: 32)
            avatar.show(room.name, room.avatar, from: avatarLoader)
            avatars.append(avatar)
            row.addPrefix(avatar.widget)
            list.append(row)
        }
        nothing.isVisible = found.isEmpty
        scroller.isVisible = !found.isEmpty
    }

    private func choose(at index: Int) {
        guard rooms.indices.contains(index) else { return }
        let room = rooms[index]
        close()
        onChoose(room)
    }

    private func close() { widget.close() }
}
