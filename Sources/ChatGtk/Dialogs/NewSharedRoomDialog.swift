import CGtk
import ChatCore
import ChatViewModels
import GtkKit
import MediaGtk

/// Asks for the properties of a new room on a server: name, topic, visibility, address and invited users.
final class NewSharedRoomDialog {
    private let window: Widget
    private let name: Widget
    private let topic: Widget
    private let isPublic: Widget
    private let address: Widget
    private let create: Button
    private let spinner: Widget
    private let error: Label
    private let picker: UserPicker
    private let viewModel: NewRoomViewModel
    private let onCreated: @MainActor () -> Void
    private var rendering: Rendering?
    /// Suppresses actions for `changed` signals that rendering causes.
    private var isRendering = false

    /// Presents the dialog, which retains itself until it is closed.
    /// - Parameter onCreated: called when the room is there and the dialog closes.
    @discardableResult
    static func present(
        _ viewModel: NewRoomViewModel, over parent: Widget, avatarLoader: AvatarLoader,
        onCreated: @escaping @MainActor () -> Void = {}
    ) -> Widget {
        let dialog = NewSharedRoomDialog(viewModel, over: parent, avatarLoader: avatarLoader, onCreated: onCreated)
        dialog.window.presentDialog(of: dialog)
        dialog.name.grabFocus()
        return dialog.window
    }

    private init(
        _ viewModel: NewRoomViewModel, over parent: Widget, avatarLoader: AvatarLoader,
        onCreated: @escaping @MainActor () -> Void
    ) {
        self.viewModel = viewModel
        self.onCreated = onCreated
        let builder = Builder(resource: Resource.ui("new-shared-room"))
        window = builder["window"]
        name = builder["name"]
        topic = builder["topic"]
        isPublic = builder["public"]
        address = builder["address"]
        create = builder["create"]
        spinner = builder["spinner"]
        error = builder["error"]
        builder["server", Label.self].text = viewModel.state.server
        picker = UserPicker(viewModel.userSearch, avatarLoader: avatarLoader)
        builder["people", Box.self].append(picker.widget)
        gtk_window_set_transient_for(window.cast(), parent.cast())
        builder["cancel", Button.self].onClick { [weak window] in window?.closeWindow() }
        create.onClick { [weak viewModel] in viewModel?.send(.create) }
        let fields: [(Widget, (String) -> NewRoomViewModel.Action)] = [
            (name, { .name($0) }), (topic, { .topic($0) }), (address, { .address($0) }),
        ]
        for (field, action) in fields {
            field.connect("changed") { [weak self, weak viewModel, weak field] _ in
                if let field, self?.isRendering == false {
                    viewModel?.send(action(String(cString: gtk_editable_get_text(field.cast()))))
                }
            }
            field.connect("entry-activated") { [weak viewModel] _ in viewModel?.send(.create) }
        }
        isPublic.connect("notify::active") { [weak viewModel, weak isPublic] _ in
            if let isPublic { viewModel?.send(.setPublic(gtk_switch_get_active(isPublic.cast()) != 0)) }
        }
        rendering = Rendering({ viewModel.state }, { [weak self] in self?.render($0) })
    }

    isolated deinit { viewModel.abandon() }

    private func render(_ state: NewRoomViewModel.State) {
        if state.isCreated {
            onCreated()
            return window.closeWindow()
        }
        isRendering = true
        defer { isRendering = false }
        create.isSensitive = state.canCreate
        spinner.setProperty("spinning", state.isCreating)
        address.isVisible = state.isPublic
        address.setStyle("error", !state.isAddressValid)
        name.setStyle("error", !state.name.isEmpty && RoomName.valid(state.name) == nil)
        topic.setStyle("error", state.topic.count > ChatLimits.topicLength)
        if String(cString: gtk_editable_get_text(address.cast())) != state.address {
            gtk_editable_set_text(address.cast(), state.address)
        }
        error.text = state.error.map { ToastText(.desktop).text(for: $0) } ?? ""
        error.isVisible = state.error != nil
    }
}
