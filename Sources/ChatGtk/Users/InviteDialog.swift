import ChatCore
import ChatViewModels
import GtkKit
import MediaGtk

/// Asks which users to invite to a room.
final class InviteDialog {
    private let widget: Dialog
    private let action: Button
    private let spinner: Spinner
    private let error: Label
    private let picker: UserPicker
    private let viewModel: InviteViewModel
    private var renderings: [Rendering] = []

    /// Presents the dialog, which retains itself until it is closed.
    @discardableResult
    static func present(_ viewModel: InviteViewModel, over parent: Widget, avatarLoader: AvatarLoader) -> Dialog {
        let dialog = InviteDialog(viewModel, avatarLoader: avatarLoader)
        dialog.widget.retain([dialog])
        dialog.widget.present(over: parent)
        dialog.picker.grabFocus()
        return dialog.widget
    }

    private init(_ viewModel: InviteViewModel, avatarLoader: AvatarLoader) {
        self.viewModel = viewModel
        let builder = Builder(resource: Resource.ui("invite"))
        widget = Dialog(builder)
        action = builder["action"]
        spinner = builder["spinner"]
        error = builder["error"]
        picker = UserPicker(viewModel.userSearch, avatarLoader: avatarLoader)
        widget.title = translated("Invite People")
        builder["content", Box.self].append(picker.widget)
        action.label = translated("_Invite")
        action.onClick { [weak viewModel] in viewModel?.send(.invite) }
        builder["cancel", Button.self].onClick { [weak widget] in widget?.close() }
        renderings = [
            Rendering({ viewModel.canInvite }, { [weak action] in action?.isSensitive = $0 }),
            Rendering({ viewModel.state }, { [weak self] in self?.render($0) }),
        ]
    }

    isolated deinit { viewModel.abandon() }

    private func render(_ state: InviteViewModel.State) {
        if state.isDone { return widget.close() }
        spinner.isSpinning = state.isInviting
        error.text = state.error.map { ToastText(.desktop).text(for: $0) } ?? ""
        error.isVisible = state.error != nil
    }
}

/// Asks whom to start a direct chat with.
final class NewChatDialog {
    private let widget: Dialog
    private let picker: UserPicker
    private var rendering: Rendering?

    /// Presents the dialog, which retains itself until it is closed.
    @discardableResult
    static func present(
        _ viewModel: UserSearchViewModel, over parent: Widget, avatarLoader: AvatarLoader,
        choose: @escaping @MainActor (User) -> Void
    ) -> Dialog {
        let dialog = NewChatDialog(viewModel, avatarLoader: avatarLoader, choose: choose)
        dialog.widget.retain([dialog])
        dialog.widget.present(over: parent)
        dialog.picker.grabFocus()
        return dialog.widget
    }

    private init(
        _ viewModel: UserSearchViewModel, avatarLoader: AvatarLoader, choose: @escaping @MainActor (User) -> Void
    ) {
        let builder = Builder(resource: Resource.ui("invite"))
        widget = Dialog(builder)
        picker = UserPicker(viewModel, avatarLoader: avatarLoader)
        widget.title = translated("New Direct Chat")
        builder["content", Box.self].append(picker.widget)
        builder["action", Button.self].isVisible = false
        builder["cancel", Button.self].onClick { [weak widget] in widget?.close() }
        rendering = Rendering({ viewModel.state.chosen.first }) { [weak widget] user in
            guard let user else { return }
            choose(user)
            widget?.close()
        }
    }
}
