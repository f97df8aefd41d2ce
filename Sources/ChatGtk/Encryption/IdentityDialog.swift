import ChatCore
import ChatViewModels
import ComposerGtk
import GtkKit

/// A user's identity, with the actions on it.
final class IdentityDialog {
    let widget: Dialog
    private let viewModel: IdentityViewModel
    private let builder: Builder
    private let text = IdentityText(.gettext)
    private var couldVerify = false
    private var rendering: Rendering?

    /// Presents the dialog, which retains itself until it is closed.
    @discardableResult
    static func present(_ viewModel: IdentityViewModel, over parent: Widget) -> IdentityDialog {
        let dialog = IdentityDialog(viewModel)
        dialog.widget.retain([dialog])
        dialog.widget.present(over: parent)
        return dialog
    }

    private init(_ viewModel: IdentityViewModel) {
        self.viewModel = viewModel
        builder = Builder(resource: Resource.ui("identity"))
        widget = Dialog(builder)
        widget.title = text.windowTitle
        builder["name", Label.self].text = viewModel.state.name
        builder["user", Label.self].text = viewModel.state.user.rawValue
        builder["verify", Button.self].onClick { [weak viewModel] in viewModel?.send(.verify) }
        builder["accept", Button.self].onClick { [weak self] in self?.confirmAccepting() }
        builder["withdraw", Button.self].onClick { [weak viewModel] in viewModel?.send(.withdraw) }
        rendering = Rendering({ viewModel.state }, { [weak self] in self?.render($0) })
    }

    private func confirmAccepting() {
        // The identity may change once more while the question is open.
        guard let key = viewModel.state.identity.newKey else { return }
        Confirmation.present(text.accepting(viewModel.state), over: widget) { [weak viewModel] in
            viewModel?.send(.accept(key))
        }
    }

    private func render(_ state: IdentityViewModel.State) {
        let icon: Image = builder["icon"]
        icon.iconName = state.identity.iconName
        icon.setStyle("error", state.identity.isChanged)
        icon.setStyle("success", state.identity == .verified)
        builder["title", Label.self].text = text.title(state)
        builder["explanation", Label.self].text = text.explanation(state)
        let verify: Button = builder["verify"]
        verify.isVisible = state.canVerify
        // The state arrives after the dialog is presented.
        if state.canVerify, !couldVerify { verify.grabFocus() }
        couldVerify = state.canVerify
        builder["accept", Widget.self].isVisible = state.canAccept
        builder["withdraw", Widget.self].isVisible = state.canWithdraw
        let spinner: Spinner = builder["spinner"]
        spinner.isSpinning = state.isBusy
        let problem: Label = builder["problem"]
        problem.text = state.error.map { EncryptionText(.gettext).text(for: $0) } ?? ""
        problem.isVisible = state.error != nil
    }
}
