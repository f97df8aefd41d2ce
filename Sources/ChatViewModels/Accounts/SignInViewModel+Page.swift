public import ChatCore

extension SignInViewModel.State {
    /// A page of the dialog, which is busy or asks for something.
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

    /// Whether the dialog is busy on a page that asks for something; the last page shows that by itself.
    public nonisolated var showsSpinner: Bool { isBusy && page != .starting }

    /// Whether the user name is asked for, besides the password: an account that is signed in again has one.
    public nonisolated var asksForName: Bool { again == nil }

    /// What takes the focus after `previous` was shown; `nil` leaves it where it is.
    /// - Parameters:
    ///   - previous: the state before, or `nil` when the dialog opens.
    ///   - isNameEmpty: whether the field for the user name is empty.
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
