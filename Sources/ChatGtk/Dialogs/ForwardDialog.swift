import ChatCore
import ChatViewModels
import GtkKit
import MediaGtk

/// Asks which room to forward messages to; the list is filtered as the user types.
///
/// An account may have thousands of rooms, whose rows would take seconds to make: they are made as the user scrolls.
final class ForwardDialog {
    /// How many rows are made at a time: more than a window shows.
    private static let rowsOfAStep = 50
    /// How close to the end of the list scrolling makes more rows, in pixels.
    private static let margin = 600.0

    private let widget: Dialog
    private let search: SearchEntry
    private let list: ListBox
    private let scroller: ScrolledWindow
    private let nothing: StatusPage
    private let find: @MainActor (String) -> [RoomListViewModel.Row]
    private let onChoose: @MainActor (RoomID) -> Void
    private let avatarLoader: AvatarLoader
    /// The rooms that match, of which the first have rows.
    private var rooms: [RoomListViewModel.Row] = []
    private var rows: [ActionRow] = []
    /// Why nothing can be sent to rooms, as far as that has been found out.
    private var obstacles: [RoomID: String] = [:]
    private let obstacle: @MainActor (RoomID) async -> String?
    private var checked: Set<RoomID> = []
    private var checking: Task<Void, Never>?
    /// The text that the listed rooms match.
    private var filteredText: String?
    /// The avatars of the rows.
    private var avatars: [AvatarView] = []
    private var adding: Timeout?

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
        self.obstacle = obstacle
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
            if let first = rooms.firstIndex(where: { self.obstacles[$0.id] == nil }) { self.choose(at: first) }
        }
        search.onStop { [weak self] in self?.close() }
        list.onRowActivated { [weak self] in self?.choose(at: $0) }
        for signal in ["value-changed", "changed"] {
            scroller.verticalAdjustment.connect(signal) { [weak self] _ in self?.addRowsIfNear() }
        }
        filter()
    }

    isolated deinit { checking?.cancel() }

    /// Finds out whether messages can be sent to the rooms that have rows.
    private func checkRooms() {
        guard checking == nil else { return }
        checking = Task { [weak self, obstacle] in
            while let room = self?.nextUnchecked() {
                let reason = await obstacle(room)
                guard !Task.isCancelled else { return }
                if let reason { self?.note(reason, in: room) }
            }
            self?.checking = nil
        }
    }

    private func nextUnchecked() -> RoomID? {
        let room = rooms.prefix(rows.count).first { !checked.contains($0.id) }?.id
        if let room { checked.insert(room) }
        return room
    }

    private func note(_ obstacle: String, in room: RoomID) {
        obstacles[room] = obstacle
        if let index = rooms.prefix(rows.count).firstIndex(where: { $0.id == room }) { show(obstacle, in: rows[index]) }
    }

    /// Not insensitive: the keyboard gets to the row, and a screen reader says why it cannot be chosen.
    private func show(_ obstacle: String, in row: ActionRow) {
        row.setSubtitle(obstacle)
        row.isActivatable = false
        row.addStyle("dim-label")
    }

    private func filter() {
        let text = search.text
        rooms = find(text)
        filteredText = text
        avatars = []
        rows = []
        list.removeAll()
        addRows()
        nothing.isVisible = rooms.isEmpty
        scroller.isVisible = !rooms.isEmpty
    }

    private func addRows() {
        for room in rooms.dropFirst(rows.count).prefix(Self.rowsOfAStep) {
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
        checkRooms()
    }

    private func addRowsIfNear() {
        guard isNearEnd, adding?.isPending != true else { return }
        // Not now: the adjustment may change in the middle of a layout.
        adding = Timeout(whenIdle: { [weak self] in
            if let self, isNearEnd { addRows() }
        })
    }

    /// Whether rows are missing a little below those in view.
    private var isNearEnd: Bool {
        let adjustment = scroller.verticalAdjustment
        return rows.count < rooms.count && adjustment.pageSize > 0
            && adjustment.upper - adjustment.value - adjustment.pageSize < Self.margin
    }

    private func choose(at index: Int) {
        guard rooms.indices.contains(index), obstacles[rooms[index].id] == nil else { return }
        let room = rooms[index].id
        close()
        onChoose(room)
    }

    private func close() { widget.close() }
}
