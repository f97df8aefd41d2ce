import ChatViewModels
import GtkKit

/// The welcome page, which offers rooms on this computer and accounts.
final class WelcomeView {
    let widget: Widget
    private let thisComputer: Button
    private let matrix: Button
    private let error: Label
    private var rendering: Rendering?

    /// - Parameter signIn: opens the sign-in dialog; `nil` without support for accounts.
    init(_ viewModel: WelcomeViewModel, signIn: (@MainActor () -> Void)?) {
        let builder = Builder(resource: Resource.ui("welcome"))
        widget = builder["page"]
        thisComputer = builder["this_computer"]
        matrix = builder["matrix"]
        error = builder["error"]
        thisComputer.onClick { [weak viewModel] in viewModel?.send(.chooseThisComputer) }
        matrix.isVisible = signIn != nil
        if let signIn { matrix.onClick(signIn) }
        rendering = Rendering({ viewModel.state }, { [weak self] in self?.render($0) })
    }

    /// Focuses the first choice, so that Return activates it.
    func grabFocus() { thisComputer.grabFocus() }

    private func render(_ state: WelcomeViewModel.State) {
        thisComputer.isSensitive = state.canChoose
        matrix.isSensitive = state.canChoose
        error.text = state.error.flatMap { ToastText(.desktop).text(for: .failed($0)) } ?? ""
        error.isVisible = state.error != nil
    }
}
