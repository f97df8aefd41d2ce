import ChatCore

extension SignInViewModel.State {
    /// A page of the dialog.
    public nonisolated enum Page: String, Equatable, Sendable {
        case server, credentials, keyring, starting
    }

    /// A field or button that takes the focus.
    public nonisolated enum Focus: Equatable, Sendable {
        case address, name, password, token, retryKeyring
    }

    public nonisolated var page: Page {
        switch step {
        case .server, .finding: .server
        case .credentials, .signingIn, .storing(nil): .credentials
        case .credentialError, .storing: .keyring
        case .starting, .done: .starting
        }
    }

    /// Whether a page with input shows a spinner. The last page has its own.
    public nonisolated var showsSpinner: Bool { isBusy && page != .starting }

    /// Whether the user name is requested besides the password. It is known when an account signs in again.
    public nonisolated var asksForName: Bool { again == nil }

    /// The widget to focus after `previous` was displayed; `nil` keeps the focus.
    /// - Parameters:
    ///   - previous: the state before, or `nil` when the dialog opens.
    ///   - isNameEmpty: whether the user name's field is empty.
    public nonisolated func focus(after previous: Self?, isNameEmpty: Bool) -> Focus? {
        guard previous?.step != step else {
            return previous?.usesToken == usesToken ? nil : usesToken ? .token : .name
        }
        switch step {
        case .server: return .address
        case .credentials: return usesToken ? .token : isNameEmpty ? .name : .password
        case .credentialError: return .retryKeyring
        case .finding, .signingIn, .storing, .starting, .done: return nil
        }
    }
}
