import ChatCore
import ChatViewModels
import ComposerGtk
import GtkKit

/// A user's identity, with the actions on it.
final class IdentityDialog {
    let widget: Dialog
    private let viewModel: IdentityViewModel
    private let builder: Builder
    private let announcements: PageAnnouncements
    private let busyFocus = BusyFocus()
    private let text = IdentityText(.gettext)
    private var displayedState: IdentityViewModel.State?
    private var rendering: Rendering?

    /// Presents the dialog, which retains itself until it is closed.
    @discardableResult
    static func present(_ viewModel: IdentityViewModel, over parent: Widget) -> IdentityDialog {
        let dialog = IdentityDialog(viewModel)
        dialog.widget.retain([dialog])
        dialog.widget.present(over: parent)
        dialog.announcements.start()
        return dialog
    }

    private init(_ viewModel: IdentityViewModel) {
        self.viewModel = viewModel
        builder = Builder(resource: Resource.ui("identity"))
        widget = Dialog(builder)
        announcements = PageAnnouncements(in: builder["overlay"])
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

    /// The last announcement.
    var announced: String { announcements.announced }

    private func render(_ state: IdentityViewModel.State) {
        busyFocus.prepare(for: state.isBusy, in: widget)
        let icon: Image = builder["icon"]
        icon.iconName = state.identity.iconName
        icon.setStyle("error", state.identity.isChanged)
        icon.setStyle("success", state.identity == .verified)
        builder["title", Label.self].text = text.title(state)
        builder["explanation", Label.self].text = text.explanation(state)
        showButtons(state)
        let spinner: Spinner = builder["spinner"]
        spinner.isSpinning = state.isBusy
        let problem: Label = builder["problem"]
        problem.text = state.error.map { EncryptionText(.gettext).text(for: $0) } ?? ""
        problem.isVisible = state.error != nil
        displayedState = state
        // Last, as the report of a new focus interrupts it.
        announcements.show(text.announcement(state))
    }

    private func showButtons(_ state: IdentityViewModel.State) {
        let buttons: [(button: Button, isOffered: Bool)] = [
            (builder["verify"], state.offersVerification), (builder["accept"], state.offersAcceptance),
            (builder["withdraw"], state.offersWithdrawing),
        ]
        let first = buttons.first { $0.isOffered }?.button
        for (button, _) in buttons { button.isSensitive = !state.isBusy }
        for (button, isOffered) in buttons where isOffered { button.isVisible = true }
        // The state arrives after the dialog is presented.
        let isNew = state.offersVerification && displayedState?.offersVerification != true
        // Before the focused button is hidden: GTK would give its focus to one elsewhere.
        if isNew || buttons.contains(where: { !$0.isOffered && $0.button.isFocus }) { first?.grabFocus() }
        for (button, isOffered) in buttons where !isOffered { button.isVisible = false }
        busyFocus.restore(in: widget, or: first)
    }
}
