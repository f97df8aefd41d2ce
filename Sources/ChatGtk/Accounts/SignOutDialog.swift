import ChatViewModels
import GtkKit

/// Asks whether to sign out an account, and asks again if its server did not end the session.
final class SignOutDialog {
    private let viewModel: SignOutViewModel
    private weak var parent: Widget?
    private var rendering: Rendering?

    /// Asks as soon as the unsent content has been counted, unless another dialog does. The dialog retains itself until
    /// it closes.
    static func present(_ viewModel: SignOutViewModel, over parent: Widget) {
        guard viewModel.start() else { return }
        let dialog = SignOutDialog(viewModel, over: parent)
        let retained = RetainedObjects([dialog])
        dialog.rendering = Rendering({ viewModel.state }) { [weak dialog] state in
            dialog?.ask(state)
            if state.step == .over { retained.release() }
        }
    }

    private init(_ viewModel: SignOutViewModel, over parent: Widget) {
        self.viewModel = viewModel
        self.parent = parent
    }

    private func ask(_ state: SignOutViewModel.State) {
        guard let text = state.confirmation(.desktop) else { return }
        guard let parent else { return viewModel.send(.cancel) }
        Confirmation.present(
            text, over: parent, cancelled: { [weak viewModel] in viewModel?.send(.cancel) },
            { [weak viewModel] in viewModel?.send(.confirm) })
    }
}
