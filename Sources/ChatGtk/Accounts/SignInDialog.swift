import ChatCore
import ChatViewModels
import Foundation
import GtkKit

/// Adds an account or signs in to an existing one again.
final class SignInDialog {
    let widget: Dialog
    private let viewModel: SignInViewModel
    private let builder: Builder
    private let pages: Stack
    private let address: EntryRow
    private let name: EntryRow
    private let password: EntryRow
    private let token: EntryRow
    private var displayedState: SignInViewModel.State?
    private var rendering: Rendering?

    /// Presents the dialog, which retains itself until it is closed.
    @discardableResult
    static func present(_ viewModel: SignInViewModel, over parent: Widget) -> SignInDialog {
        let dialog = SignInDialog(viewModel)
        dialog.widget.onCloseRequest { [weak dialog] in dialog?.closeRequested() ?? false }
        dialog.widget.retain([dialog])
        viewModel.start()
        dialog.widget.present(over: parent)
        return dialog
    }

    private init(_ viewModel: SignInViewModel) {
        self.viewModel = viewModel
        builder = Builder(resource: Resource.ui("sign-in"))
        widget = Dialog(builder)
        pages = builder["pages"]
        address = builder["address"]
        name = builder["name"]
        password = builder["password"]
        token = builder["token"]
        address.text = viewModel.state.suggestedServer
        connect()
        rendering = Rendering({ viewModel.state }, { [weak self] in self?.render($0) })
    }

    private func connect() {
        builder["back", Button.self].onClick { [weak self] in self?.viewModel.send(.back) }
        builder["cancel", Button.self].onClick { [weak self] in self?.viewModel.send(.cancel) }
        builder["find", Button.self].onClick { [weak self] in self?.find() }
        builder["sign_in", Button.self].onClick { [weak self] in self?.signIn() }
        builder["other_way", Button.self].onClick { [weak self] in self?.viewModel.send(.changeWay) }
        builder["retry_keyring", Button.self].onClick { [weak self] in self?.viewModel.send(.retryKeyring) }
        let locations: [(String, CredentialLocation)] = [("keep_in_memory", .memory), ("keep_in_file", .file)]
        for (row, location) in locations {
            builder[row, ActionRow.self].onActivated { [weak self] in
                self?.viewModel.send(.storeCredential(location))
            }
        }
        address.onEntryActivated { [weak self] in self?.find() }
        name.onEntryActivated { [weak self] in self?.password.grabFocus() }
        password.onEntryActivated { [weak self] in self?.signIn() }
        token.onEntryActivated { [weak self] in self?.signIn() }
        for field in [address, name, password, token] {
            field.labelButtons()
            field.onChange { [weak self] in self?.enable() }
        }
    }

    // MARK: Input

    private func find() {
        if viewModel.state.canFind(address.text) { viewModel.send(.find(address.text)) }
    }

    private func signIn() {
        guard canSignIn else { return }
        viewModel.send(
            viewModel.state.usesToken
                ? .signInWithToken(AccountCredential(token.text))
                : .signIn(name: name.text, password: AccountCredential(password.text)))
    }

    private var canSignIn: Bool {
        viewModel.state.canSignIn(name: name.text, password: password.text, token: token.text)
    }

    private func enable() {
        builder["find", Button.self].isSensitive = viewModel.state.canFind(address.text)
        builder["sign_in", Button.self].isSensitive = canSignIn
    }

    /// Handles Escape and the close button: cancels a running step and returns to its input, or else closes the dialog.
    /// - Returns: Whether to keep the dialog open.
    private func closeRequested() -> Bool {
        if !viewModel.state.isOver { viewModel.send(.cancel) }
        guard viewModel.state.isOver else { return true }
        // Clear secrets from the entries.
        for field in [password, token] { field.text = "" }
        return false
    }

    // MARK: Rendering

    private func render(_ state: SignInViewModel.State) {
        if state.isOver { return widget.close() }
        builder["back", Widget.self].isVisible = state.canGoBack
        builder["cancel", Widget.self].isVisible = state.canCancel
        builder["spinner", Spinner.self].isSpinning = state.showsSpinner
        for field in [address, name, password, token] { field.isEditable = !state.isBusy }
        showTexts(state)
        builder["icon", Widget.self].isVisible = state.page == .server
        if state.page == .credentials, displayedState?.page != .credentials { name.text = state.name }
        name.isVisible = state.asksForName
        builder["password_group", Widget.self].isVisible = !state.usesToken
        builder["token_group", Widget.self].isVisible = state.usesToken
        builder["other_way", Widget.self].isVisible = state.canChangeWay
        pages.visibleChild = state.page.rawValue
        enable()
        focus(state)
        displayedState = state
    }

    private func showTexts(_ state: SignInViewModel.State) {
        let text = SignInText(.desktop)
        widget.title = text.windowTitle(state)
        builder["title", Label.self].text = text.title(state)
        builder["explanation", Label.self].text = text.explanation(state)
        builder["other_way", Button.self].label = text.otherWay(state)
        let problem: Label = builder["problem"]
        problem.text = state.problem.map { text.text(for: $0) } ?? ""
        problem.isVisible = state.problem != nil
    }

    private func focus(_ state: SignInViewModel.State) {
        switch state.focus(after: displayedState, isNameEmpty: name.text.isEmpty) {
        case .address:
            address.grabFocus()
            // What is typed replaces the suggestion.
            if displayedState == nil { address.selectAll() }
        case .name: name.grabFocus()
        case .password: password.grabFocus()
        case .token: token.grabFocus()
        case .retryKeyring: builder["retry_keyring", Button.self].grabFocus()
        case nil: break
        }
    }
}
