import ChatCore
import ChatViewModels
import GtkKit
import MediaGtk

/// Asks which users to invite to a room.
final class InviteDialog {
    private let window: TopLevel
    private let action: Button
    private let spinner: Spinner
    private let error: Label
    private let picker: UserPicker
    private let viewModel: InviteViewModel
    private var renderings: [Rendering] = []

    /// Presents the dialog, which retains itself until it is closed.
    @discardableResult
    static func present(_ viewModel: InviteViewModel, over parent: Widget, avatarLoader: AvatarLoader) -> TopLevel {
        let dialog = InviteDialog(viewModel, over: parent, avatarLoader: avatarLoader)
        dialog.window.presentDialog(of: dialog)
        dialog.picker.grabFocus()
        return dialog.window
    }

    private init(_ viewModel: InviteViewModel, over parent: Widget, avatarLoader: AvatarLoader) {
        self.viewModel = viewModel
        let builder = Builder(resource: Resource.ui("invite"))
        window = builder["window"]
        action = builder["action"]
        spinner = builder["spinner"]
        error = builder["error"]
        picker = UserPicker(viewModel.userSearch, avatarLoader: avatarLoader)
        window.title = translated("Invite People")
        window.setTransient(for: parent)
        builder["content", Box.self].append(picker.widget)
        action.label = translated("_Invite")
        action.onClick { [weak viewModel] in viewModel?.send(.invite) }
        builder["cancel", Button.self].onClick { [weak window] in window?.closeWindow() }
        renderings = [
            Rendering({ viewModel.canInvite }, { [weak action] in action?.isSensitive = $0 }),
            Rendering({ viewModel.state }, { [weak self] in self?.render($0) }),
        ]
    }

    isolated deinit { viewModel.abandon() }

    private func render(_ state: InviteViewModel.State) {
        if state.isDone { return window.closeWindow() }
        spinner.isSpinning = state.isInviting
        error.text = state.error.map { ToastText(.desktop).text(for: $0) } ?? ""
        error.isVisible = state.error != nil
    }
}

/// Asks whom to start a direct chat with.
final class NewChatDialog {
    private let window: TopLevel
    private let picker: UserPicker
    private var rendering: Rendering?

    /// Presents the dialog, which retains itself until it is closed.
    @discardableResult
    static func present(
        _ viewModel: UserSearchViewModel, over parent: Widget, avatarLoader: AvatarLoader,
        choose: @escaping @MainActor (User) -> Void
    ) -> TopLevel {
        let dialog = NewChatDialog(viewModel, over: parent, avatarLoader: avatarLoader, choose: choose)
        dialog.window.presentDialog(of: dialog)
        dialog.picker.grabFocus()
        return dialog.window
    }

    private init(
        _ viewModel: UserSearchViewModel, over parent: Widget, avatarLoader: AvatarLoader,
        choose: @escaping @MainActor (User) -> Void
    ) {
        let builder = Builder(resource: Resource.ui("invite"))
        window = builder["window"]
        picker = UserPicker(viewModel, avatarLoader: avatarLoader)
        window.title = translated("New Direct Chat")
        window.setTransient(for: parent)
        builder["content", Box.self].append(picker.widget)
        builder["action", Button.self].isVisible = false
        builder["cancel", Button.self].onClick { [weak window] in window?.closeWindow() }
        rendering = Rendering({ viewModel.state.chosen.first }) { [weak window] user in
            guard let user else { return }
            choose(user)
            window?.closeWindow()
        }
    }
}
