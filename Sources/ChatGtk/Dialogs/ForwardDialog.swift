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
    private var rows: [ActionRow] = []
    /// Why nothing can be sent to rooms, as far as that has been found out.
    private var obstacles: [RoomID: String] = [:]
    private var checking: Task<Void, Never>?
    /// The text that the listed rooms match.
    private var filteredText: String?
    private var avatars: [AvatarView] = []

    /// Presents the dialog, which retains itself until it is closed.
    /// - Parameters:
    ///   - find: Returns the rooms that match the text.
    ///   - obstacle: Says why nothing can be sent to a room, which then cannot be chosen; `nil` for no reason.
    ///   - avatarLoader: Loads the rooms' avatars.
    ///   - choose: Called with the chosen room.
    static func present(
        over parent: Widget, find: @escaping @MainActor (String) -> [RoomListViewModel.Row],
        obstacle: @escaping @MainActor (RoomID) async -> String?, avatarLoader: AvatarLoader,
        choose: @escaping @MainActor (RoomID) -> Void
    ) {
        let dialog = ForwardDialog(find: find, obstacle: obstacle, avatarLoader: avatarLoader, choose: choose)
        dialog.widget.retain([dialog])
        dialog.widget.present(over: parent)
        dialog.search.grabFocus()
    }

    private init(
        find: @escaping @MainActor (String) -> [RoomListViewModel.Row],
        obstacle: @escaping @MainActor (RoomID) async -> String?, avatarLoader: AvatarLoader,
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
            if let first = rooms.firstIndex(where: { self.obstacles[$0] == nil }) { self.choose(at: first) }
        }
        search.onStop { [weak self] in self?.close() }
        list.onRowActivated { [weak self] in self?.choose(at: $0) }
        filter()
        checking = Task { [weak self, rooms] in
            for room in rooms {
                let reason = await obstacle(room)
                guard !Task.isCancelled else { return }
                if let reason { self?.note(reason, in: room) }
            }
        }
    }

    isolated deinit { checking?.cancel() }

    private func note(_ obstacle: String, in room: RoomID) {
        obstacles[room] = obstacle
        if let index = rooms.firstIndex(of: room) { show(obstacle, in: rows[index]) }
    }

    /// Not insensitive: the keyboard gets to the row, and a screen reader says why it cannot be chosen.
    private func show(_ obstacle: String, in row: ActionRow) {
        row.setSubtitle(obstacle)
        row.isActivatable = false
        row.addStyle("dim-label")
    }

    private func filter() {
        let text = search.text
        let found = find(text)
        filteredText = text
        rooms = found.map(\.id)
        avatars = []
        rows = []
        list.removeAll()
        for room in found {
            let row = ActionRow(room.name)
            row.isActivatable = true
            if let obstacle = obstacles[room.id] { show(obstacle, in: row) }
            let avatar = AvatarView(size: 32)
            avatar.show(room.name, room.avatar, from: avatarLoader)
            avatars.append(avatar)
            row.addPrefix(avatar.widget)
            list.append(row)
            rows.append(row)
        }
        nothing.isVisible = found.isEmpty
        scroller.isVisible = !found.isEmpty
    }

    private func choose(at index: Int) {
        guard rooms.indices.contains(index), obstacles[rooms[index]] == nil else { return }
        let room = rooms[index]
        close()
        onChoose(room)
    }

    private func close() { widget.close() }
}
