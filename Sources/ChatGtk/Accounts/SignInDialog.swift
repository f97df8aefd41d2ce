import ChatCore
import ChatViewModels
import Foundation
import GtkKit

/// Adds an account or signs in to an existing one again.
final class SignInDialog {
    let window: TopLevel
    private let viewModel: SignInViewModel
    private let builder: Builder
    private let pages: Stack
    private let address: EntryRow
    private let name: EntryRow
    private let password: EntryRow
    private let token: EntryRow
    private var displayedStep: SignInViewModel.Step?
    private var rendering: Rendering?

    /// Presents the dialog, which retains itself until it is closed.
    @discardableResult
    static func present(_ viewModel: SignInViewModel, over parent: Widget) -> SignInDialog {
        let dialog = SignInDialog(viewModel, over: parent)
        let retained = RetainedWidgets([dialog])
        dialog.window.onCloseRequest { [weak dialog] in dialog?.closeRequested() ?? false }
        dialog.window.onDestroy { retained.end() }
        viewModel.start()
        dialog.window.present()
        return dialog
    }

    private init(_ viewModel: SignInViewModel, over parent: Widget) {
        self.viewModel = viewModel
        builder = Builder(resource: Resource.ui("sign-in"))
        window = builder["window"]
        pages = builder["pages"]
        address = builder["address"]
        name = builder["name"]
        password = builder["password"]
        token = builder["token"]
        window.setTransient(for: parent)
        address.text = viewModel.state.suggestedServer
        connect()
        rendering = Rendering({ viewModel.state }, { [weak self] in self?.render($0) })
    }

    private func connect() {
        builder["back", Button.self].onClick { [weak self] in self?.viewModel.send(.back) }
        builder["cancel", Button.self].onClick { [weak self] in self?.viewModel.send(.cancel) }
        builder["find", Button.self].onClick { [weak self] in self?.find() }
        builder["sign_in", Button.self].onClick { [weak self] in self?.signIn() }
        builder["other_way", Button.self].onClick { [weak self] in self?.changeWay() }
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
        for field in [address, name, password, token] { field.onChange { [weak self] in self?.enable() } }
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

    private func changeWay() {
        viewModel.send(.changeWay)
        showWay(viewModel.state)
        (viewModel.state.usesToken ? token : name).grabFocus()
    }

    private var canSignIn: Bool {
        viewModel.state.canSignIn(name: name.text, password: password.text, token: token.text)
    }

    private func enable() {
        builder["find", Button.self].isSensitive = viewModel.state.canFind(address.text)
        builder["sign_in", Button.self].isSensitive = canSignIn
    }

    /// Handles Escape and the close button: cancels a running step and returns to its input, or else closes the dialog.
    /// - Returns: Whether to keep the window open.
    private func closeRequested() -> Bool {
        if !viewModel.state.isOver { viewModel.send(.cancel) }
        guard viewModel.state.isOver else { return true }
        // Clear secrets from the entries.
        for field in [password, token] { field.text = "" }
        return false
    }

    // MARK: Rendering

    private func render(_ state: SignInViewModel.State) {
        if state.isOver { return window.closeWindow() }
        builder["back", Widget.self].isVisible = state.canGoBack
        builder["cancel", Widget.self].isVisible = state.canCancel
        builder["spinner", Spinner.self].isSpinning = state.isBusy && state.step != .starting
        for field in [address, name, password, token] { field.isEditable = !state.isBusy }
        let problem: Label = builder["problem"]
        problem.text = state.problem.map { SignInText(.desktop).text(for: $0) } ?? ""
        problem.isVisible = state.problem != nil
        window.title = state.again == nil ? translated("Add Account") : translated("Sign In Again")
        showTexts(state)
        let before = displayedStep
        displayedStep = state.step
        pages.visibleChild = Self.page(state.step)
        showWay(state)
        if before.map(Self.page) != Self.page(state.step) || !state.isBusy { focus(state, since: before) }
    }

    private static func page(_ step: SignInViewModel.Step) -> String {
        switch step {
        case .server, .finding: "server"
        case .credentials, .signingIn, .storing(nil): "credentials"
        case .credentialError, .storing: "credential-error"
        case .starting, .done: "starting"
        }
    }

    private func showTexts(_ state: SignInViewModel.State) {
        builder["icon", Widget.self].isVisible = Self.page(state.step) == "server"
        let title: Label = builder["title"]
        let explanation: Label = builder["explanation"]
        switch state.step {
        case .server, .finding:
            title.text = state.again == nil ? translated("Sign In to Matrix") : translated("Sign In Again")
            explanation.text = state.again?.id ?? translated("Enter your homeserver or Matrix ID.")
        case .credentials(let server), .signingIn(let server):
            title.text = state.again?.name ?? translated("Sign In")
            explanation.text =
                server.supportsPassword || server.hasWebPage == false
                ? translated("Your account on {server}", ["server": server.name])
                : translated(
                    "This server requires signing in with a web browser, which Parlance does not support yet. Use an access token instead."
                )
        case .credentialError(let error), .storing(let error?):
            title.text = SignInText(.desktop).title(for: error)
            explanation.text = SignInText(.desktop).text(for: error)
        case .storing(nil): break
        case .starting, .done:
            title.text = translated("Loading Rooms…")
            explanation.text = translated("Rooms appear as they load. You can close this window.")
        }
    }

    private func showWay(_ state: SignInViewModel.State) {
        builder["password_group", Widget.self].isVisible = !state.usesToken
        builder["token_group", Widget.self].isVisible = state.usesToken
        let other: Button = builder["other_way"]
        other.label =
            state.usesToken ? translated("Use Password") : translated("Use Access Token")
        // The page stays while the credential is stored, and so does the button.
        if case .credentials = state.step { other.isVisible = state.canChangeWay }
        enable()
    }

    private func focus(_ state: SignInViewModel.State, since before: SignInViewModel.Step?) {
        guard before != state.step else { return }
        switch state.step {
        case .server:
            address.grabFocus()
            // What is typed replaces the suggestion.
            if before == nil { address.selectAll() }
        case .credentials:
            if before.map(Self.page) != "credentials" {
                name.text = state.name
                name.isVisible = state.again == nil
            }
            if state.usesToken {
                token.grabFocus()
            } else if name.text.isEmpty {
                name.grabFocus()
            } else {
                password.grabFocus()
            }
        case .credentialError: builder["retry_keyring", Button.self].grabFocus()
        default: break
        }
    }
}
