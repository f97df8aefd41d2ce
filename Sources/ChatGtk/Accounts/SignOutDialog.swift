import ChatViewModels
import ComposerGtk
import GtkKit

/// Asks whether to sign out an account, and asks again if its server did not end the session.
final class SignOutDialog {
    private let viewModel: SignOutViewModel
    private weak var parent: Widget?
    private var rendering: Rendering?
    /// Opens ``progress``.
    private var delay: Timeout?
    /// Says that the question is being prepared.
    private var progress: MessageDialog?

    /// A dialog that closes at once would only flicker.
    private static let progressDelay = Duration.milliseconds(500)

    /// Asks as soon as the unsent content has been counted, unless another dialog does. The dialog retains itself until
    /// it closes.
    static func present(_ viewModel: SignOutViewModel, over parent: Widget) {
        guard viewModel.start() else { return }
        let dialog = SignOutDialog(viewModel, over: parent)
        let retained = RetainedObjects([dialog])
        dialog.delay = Timeout(after: progressDelay) { [weak dialog] in dialog?.showProgress() }
        dialog.rendering = Rendering({ viewModel.state }) { [weak dialog] state in
            if !state.showsSpinner { dialog?.endProgress() }
            dialog?.ask(state)
            if state.step == .over { retained.release() }
        }
    }

    private init(_ viewModel: SignOutViewModel, over parent: Widget) {
        self.viewModel = viewModel
        self.parent = parent
    }

    private func showProgress() {
        let state = viewModel.state
        guard let parent, state.showsSpinner else { return }
        let dialog = MessageDialog(heading: state.heading(.gettext), body: state.preparation(.gettext))
        let spinner = Spinner()
        spinner.isSpinning = true
        dialog.setExtraChild(spinner)
        dialog.addResponse("cancel", translated("_Cancel"))
        dialog.setResponses(default: nil, close: "cancel")
        dialog.onResponse("cancel") { [weak self] in
            // It also closes, with this response, as the question is ready.
            guard let self, progress != nil else { return }
            progress = nil
            viewModel.send(.cancel)
        }
        progress = dialog
        dialog.present(over: parent)
    }

    private func endProgress() {
        delay = nil
        let shown = progress
        progress = nil
        shown?.close()
    }

    private func ask(_ state: SignOutViewModel.State) {
        guard let text = state.confirmation(.desktop) else { return }
        guard let parent else { return viewModel.send(.cancel) }
        Confirmation.present(
            text, over: parent, cancelled: { [weak viewModel] in viewModel?.send(.cancel) },
            { [weak viewModel] in viewModel?.send(.confirm) })
    }
}
