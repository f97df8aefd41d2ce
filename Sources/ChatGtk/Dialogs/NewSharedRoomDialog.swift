import ChatCore
import ChatViewModels
import ComposerGtk
import GtkKit
import MediaGtk

/// Asks for the properties of a new room on a server: name, topic, visibility, address and invited users.
final class NewSharedRoomDialog {
    private let widget: Dialog
    private let content: Widget
    private let name: EntryRow
    private let topic: EntryRow
    private let isPublic: Switch
    private let encryption: ActionRow
    private let isEncrypted: Switch
    private let address: EntryRow
    private let create: Button
    private let spinner: Spinner
    private let error: Label
    private let picker: UserPicker
    private let busyFocus = BusyFocus()
    private let viewModel: NewRoomViewModel
    private let onCreated: @MainActor (RoomID) -> Void
    private var rendering: Rendering?
    /// Suppresses actions for `changed` signals that rendering causes.
    private var isRendering = false

    /// Presents the dialog, which retains itself until it is closed.
    /// - Parameter onCreated: called with the room when it has been created and the dialog closes.
    @discardableResult
    static func present(
        _ viewModel: NewRoomViewModel, over parent: Widget, avatarLoader: AvatarLoader,
        onCreated: @escaping @MainActor (RoomID) -> Void = { _ in }
    ) -> Dialog {
        let dialog = NewSharedRoomDialog(viewModel, avatarLoader: avatarLoader, onCreated: onCreated)
        dialog.widget.retain([dialog])
        dialog.widget.present(over: parent)
        dialog.name.grabFocus()
        return dialog.widget
    }

    private init(
        _ viewModel: NewRoomViewModel, avatarLoader: AvatarLoader, onCreated: @escaping @MainActor (RoomID) -> Void
    ) {
        self.viewModel = viewModel
        self.onCreated = onCreated
        let builder = Builder(resource: Resource.ui("new-shared-room"))
        widget = Dialog(builder)
        content = builder["content"]
        name = builder["name"]
        topic = builder["topic"]
        isPublic = builder["public"]
        encryption = builder["encryption"]
        isEncrypted = builder["encrypted"]
        address = builder["address"]
        create = builder["create"]
        spinner = builder["spinner"]
        error = builder["error"]
        builder["server", Label.self].text = viewModel.state.server
        picker = UserPicker(viewModel.userSearch, avatarLoader: avatarLoader)
        builder["people", Box.self].append(picker.widget)
        builder["cancel", Button.self].onClick { [weak widget] in widget?.close() }
        create.onClick { [weak viewModel] in viewModel?.send(.create) }
        let fields: [(EntryRow, (String) -> NewRoomViewModel.Action)] = [
            (name, { .name($0) }), (topic, { .topic($0) }), (address, { .address($0) }),
        ]
        for (field, action) in fields {
            field.onChange { [weak self, weak viewModel, weak field] in
                if let field, self?.isRendering == false {
                    viewModel?.send(action(field.text))
                }
            }
            field.onEntryActivated { [weak viewModel] in viewModel?.send(.create) }
        }
        isPublic.onChange { [weak viewModel] in viewModel?.send(.setPublic($0)) }
        isEncrypted.onChange { [weak self, weak viewModel] in
            if self?.isRendering == false { viewModel?.send(.setEncrypted($0)) }
        }
        rendering = Rendering({ viewModel.state }, { [weak self] in self?.render($0) })
    }

    isolated deinit { viewModel.abandon() }

    private func render(_ state: NewRoomViewModel.State) {
        if let room = state.created {
            onCreated(room)
            return widget.close()
        }
        isRendering = true
        defer { isRendering = false }
        busyFocus.prepare(for: state.isCreating, in: widget)
        create.isSensitive = state.canCreate
        // The request is under way: what is typed or chosen now would be lost with the dialog.
        content.isSensitive = !state.isCreating
        spinner.isSpinning = state.isCreating
        address.isVisible = state.isPublic
        if isEncrypted.isActive != state.isEncrypted { isEncrypted.isActive = state.isEncrypted }
        encryption.isSensitive = state.canChooseEncryption
        encryption.setSubtitle(state.encryptionText(.gettext))
        address.setStyle("error", !state.isAddressValid)
        name.setStyle("error", state.isNameInvalid)
        topic.setStyle("error", state.isTopicTooLong)
        address.text = state.address
        error.text = state.error.map { ToastText(.desktop).text(for: $0) } ?? ""
        error.isVisible = state.error != nil
        busyFocus.restore(in: widget)
    }
}
