import CGtk
import ChatCore
import ChatViewModels
import GtkKit
import MediaGtk

/// Asks which room to forward messages to; the list is filtered as the user types.
final class ForwardDialog {
    private let window: Widget
    private let search: Widget
    private let list: Widget
    private let find: @MainActor (String) -> [RoomListViewModel.Row]
    private let onChoose: @MainActor (RoomID) -> Void
    private let avatarLoader: AvatarLoader
    private var rooms: [RoomID] = []
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
        let dialog = ForwardDialog(over: parent, find: find, avatarLoader: avatarLoader, choose: choose)
        dialog.window.presentDialog(of: dialog)
        dialog.search.grabFocus()
    }

    private init(
        over parent: Widget, find: @escaping @MainActor (String) -> [RoomListViewModel.Row],
        avatarLoader: AvatarLoader, choose: @escaping @MainActor (RoomID) -> Void
    ) {
        self.find = find
        self.avatarLoader = avatarLoader
        onChoose = choose
        let builder = Builder(resource: Resource.ui("forward"))
        window = builder["window"]
        search = builder["search"]
        list = builder["rooms"]
        gtk_window_set_transient_for(window.cast(), parent.cast())
        search.connect("search-changed") { [weak self] _ in self?.filter() }
        // Return chooses the first room.
        search.connect("activate") { [weak self] _ in
            // GtkSearchEntry delays `search-changed`: filter by the current text first.
            self?.filter()
            self?.choose(at: 0)
        }
        search.connect("stop-search") { [weak self] _ in self?.close() }
        list.connect("row-activated") { [weak self] arguments in
            guard let row = arguments.object(0) else { return }
            self?.choose(at: Int(gtk_list_box_row_get_index(row.assumingMemoryBound(to: GtkListBoxRow.self))))
        }
        filter()
    }

    private func filter() {
        let found = find(String(cString: gtk_editable_get_text(search.cast())))
        rooms = found.map(\.id)
        avatars = []
        while let row = gtk_list_box_get_row_at_index(list.cast(), 0) {
            gtk_list_box_remove(list.cast(), UnsafeMutablePointer<GtkWidget>(OpaquePointer(row)))
        }
        for room in found {
            let row = Widget(sinking: adw_action_row_new())
            row.setProperty("title", Markup.escaped(room.name))
            row.setProperty("activatable", true)
            let avatar = AvatarView(size: 32)
            avatar.show(room.name, room.avatar, from: avatarLoader)
            avatars.append(avatar)
            adw_action_row_add_prefix(row.cast(), avatar.widget.cast())
            gtk_list_box_append(list.cast(), row.cast())
        }
        list.isVisible = !found.isEmpty
    }

    private func choose(at index: Int) {
        guard rooms.indices.contains(index) else { return }
        let room = rooms[index]
        close()
        onChoose(room)
    }

    private func close() { window.closeWindow() }
}
