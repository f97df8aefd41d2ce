import ChatCore
import ChatViewModels
import ComposerGtk
import GtkKit

/// Asks whether to sign out an account, and once more if its server can't be told.
final class LogOutDialog {
    private let viewModel: LogOutViewModel
    private weak var parent: Widget?
    private var rendering: Rendering?

    /// Asks as soon as what is lost is counted. The dialog retains itself until it is over.
    static func present(_ viewModel: LogOutViewModel, over parent: Widget) {
        let dialog = LogOutDialog(viewModel, over: parent)
        let retained = RetainedWidgets([dialog])
        dialog.rendering = Rendering({ viewModel.state }) { [weak dialog] state in
            dialog?.ask(state)
            if state.step == .over { retained.end() }
        }
        viewModel.start()
    }

    private init(_ viewModel: LogOutViewModel, over parent: Widget) {
        self.viewModel = viewModel
        self.parent = parent
    }

    private func ask(_ state: LogOutViewModel.State) {
        switch state.step {
        case .confirming:
            confirm(
                translated("Sign Out of %s?").replacing("%s", with: state.account), state.losses(.gettext),
                translated("_Sign Out"))
        case .failed(let problem):
            confirm(
                translated("Could Not Sign Out"),
                SignInText(.desktop).text(for: problem) + "\n\n"
                    + translated("The session stays active on the server until you end it from another client."),
                translated("_Remove Anyway"))
        case .counting, .loggingOut, .over: break
        }
    }

    private func confirm(_ heading: String, _ body: String, _ action: String) {
        guard let parent else { return viewModel.send(.cancel) }
        Confirmation.present(
            over: parent, heading: heading, body: body, action: action,
            cancelled: { [weak viewModel] in viewModel?.send(.cancel) },
            { [weak viewModel] in viewModel?.send(.confirm) })
    }
}
