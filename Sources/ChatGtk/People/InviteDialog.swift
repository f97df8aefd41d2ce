import CGtk
import ChatCore
import ChatViewModels
import GtkKit

/// Asks whom to invite into a room.
final class InviteDialog {
    private let window: Widget
    private let action: Button
    private let spinner: Widget
    private let error: Label
    private let picker: PeoplePicker
    private let viewModel: InviteViewModel
    private var rendering: Rendering?

    /// Shows the dialog, which lives until it is closed.
    @discardableResult
    static func present(_ viewModel: InviteViewModel, over parent: Widget, pictures: AvatarPictures) -> Widget {
        let dialog = InviteDialog(viewModel, over: parent, pictures: pictures)
        dialog.window.presentDialog(of: dialog)
        dialog.picker.grabFocus()
        return dialog.window
    }

    private init(_ viewModel: InviteViewModel, over parent: Widget, pictures: AvatarPictures) {
        self.viewModel = viewModel
        let builder = Builder(resource: Resource.ui("invite"))
        window = builder["window"]
        action = builder["action"]
        spinner = builder["spinner"]
        error = builder["error"]
        picker = PeoplePicker(viewModel.people, pictures: pictures)
        gtk_window_set_title(window.cast(), translated("Invite People"))
        gtk_window_set_transient_for(window.cast(), parent.cast())
        builder["content", Box.self].append(picker.widget)
        action.label = translated("_Invite")
        action.onClick { [weak viewModel] in viewModel?.send(.invite) }
        builder["cancel", Button.self].onClick { [weak window] in window?.closeWindow() }
        let told = viewModel.onDone
        viewModel.onDone = { [weak window] people in
            told?(people)
            window?.closeWindow()
        }
        rendering = Rendering(
            { Shown(state: viewModel.state, canInvite: viewModel.canInvite) }, { [weak self] in self?.render($0) })
    }

    isolated deinit { viewModel.abandon() }

    private nonisolated struct Shown: Equatable, Sendable {
        var state: InviteViewModel.State
        var canInvite: Bool
    }

    private func render(_ shown: Shown) {
        action.isSensitive = shown.canInvite
        spinner.setProperty("spinning", shown.state.isInviting)
        error.text = shown.state.error.map(NoticeText.text) ?? ""
        error.isVisible = shown.state.error != nil
    }
}

/// Asks whom to write to.
final class NewChatDialog {
    private let window: Widget
    private let picker: PeoplePicker

    /// Shows the dialog, which lives until it is closed.
    @discardableResult
    static func present(
        _ viewModel: PeopleSearchViewModel, over parent: Widget, pictures: AvatarPictures,
        choose: @escaping @MainActor (Person) -> Void
    ) -> Widget {
        let dialog = NewChatDialog(viewModel, over: parent, pictures: pictures, choose: choose)
        dialog.window.presentDialog(of: dialog)
        dialog.picker.grabFocus()
        return dialog.window
    }

    private init(
        _ viewModel: PeopleSearchViewModel, over parent: Widget, pictures: AvatarPictures,
        choose: @escaping @MainActor (Person) -> Void
    ) {
        let builder = Builder(resource: Resource.ui("invite"))
        window = builder["window"]
        picker = PeoplePicker(viewModel, pictures: pictures)
        gtk_window_set_title(window.cast(), translated("New Direct Chat"))
        gtk_window_set_transient_for(window.cast(), parent.cast())
        builder["content", Box.self].append(picker.widget)
        builder["action", Button.self].isVisible = false
        builder["cancel", Button.self].onClick { [weak window] in window?.closeWindow() }
        picker.onChoose = { [weak window] person in
            choose(person)
            window?.closeWindow()
        }
    }
}
