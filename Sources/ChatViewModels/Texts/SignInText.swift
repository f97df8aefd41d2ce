public import ChatCore
import Foundation

/// The texts about signing in, and about the state of an account.
public struct SignInText {
    private let wording: Wording
    private var translator: Translator { wording.translator }

    public init(_ wording: Wording) {
        self.wording = wording
    }

    // MARK: Dialog

    public func windowTitle(_ state: SignInViewModel.State) -> String {
        state.again == nil ? translator("Add Account") : translator("Sign In Again")
    }

    /// The title of the page.
    public func title(_ state: SignInViewModel.State) -> String {
        switch state.step {
        case .server, .finding: state.again == nil ? translator("Sign In to Matrix") : translator("Sign In Again")
        case .credentials, .signingIn, .storing(nil): state.again?.name ?? translator("Sign In")
        case .credentialError(let error), .storing(let error?): title(for: error)
        case .starting, .done: translator("Loading Rooms…")
        }
    }

    /// The text below the title.
    public func explanation(_ state: SignInViewModel.State) -> String {
        switch state.step {
        case .server, .finding: state.again?.id ?? translator("Enter your homeserver or Matrix ID.")
        case .credentials, .signingIn, .storing(nil): state.server.map { explanation($0) } ?? ""
        case .credentialError(let error), .storing(let error?): text(for: error)
        case .starting, .done: translator("Rooms appear as they load. You can close this window.")
        }
    }

    private func explanation(_ server: SignInServer) -> String {
        server.supportsPassword || server.hasWebPage == false
            ? translator("Your account on {server}", ["server": server.name])
            : translator(
                "This server requires signing in with a web browser, which Parlance does not support yet. Use an access token instead."
            )
    }

    /// The label of the button that switches between password and access token.
    public func otherWay(_ state: SignInViewModel.State) -> String {
        state.usesToken ? translator("Use Password") : translator("Use Access Token")
    }

    // MARK: Problems

    public func text(for problem: SignInProblem) -> String {
        switch problem {
        case .notAnAddress:
            translator("Enter a server name, such as example.org, or a URL that starts with https://.")
        case .unreachable: translator("Could not connect to the server. Check the name and your network connection.")
        case .untrusted(let certificate): text(for: certificate)
        case .noHomeserver: translator("No Matrix server found at this address.")
        case .wrongPassword: translator("Incorrect username or password.")
        case .wrongToken: translator("Invalid access token.")
        case .deactivated: translator("This account has been deactivated.")
        case .tooOften(let wait): tooOften(wait)
        case .otherUser: translator("Sign in with the same account.")
        case .otherDevice:
            translator(
                "This token belongs to another device, so its encrypted messages could not be read here. Sign in with your password."
            )
        case .alreadyHere: translator("You are already signed in to this account.")
        case .rejected(let reason): translator("The server rejected the request: {reason}", ["reason": reason])
        case .storage: translator("Could not open the local data for this account.")
        case .credential: translator("The keyring with the sign-in details of this account could not be read.")
        }
    }

    private func text(for certificate: SignInProblem.Certificate) -> String {
        switch certificate {
        case .unknownIssuer: translator("The server’s certificate is not trusted.")
        case .wrongName: translator("The certificate belongs to a different server.")
        case .expired: translator("The server’s certificate has expired.")
        case .notYetValid:
            translator("The server’s certificate is not valid yet. Check the date and time of this computer.")
        case .other: translator("The server’s certificate is not valid.")
        }
    }

    private func tooOften(_ wait: Duration?) -> String {
        guard let seconds = wait.map({ Int($0.components.seconds) + 1 }) else {
            return translator("Too many attempts. Try again later.")
        }
        return translator.plural(
            "Too many attempts. Try again in {count} second.", "Too many attempts. Try again in {count} seconds.",
            seconds)
    }

    public func text(for banner: AccountsCoordinator.Banner) -> (text: String, action: String) {
        switch banner {
        case .connecting: (translator("Connecting…"), translator("_Retry"))
        case .offline: (translator("Could not connect to the server"), translator("_Retry"))
        case .untrusted(let certificate): (text(for: certificate), translator("_Retry"))
        case .signedOut(isSoft: true): (translator("Sign-in expired"), translator("_Sign In…"))
        case .signedOut(isSoft: false): (translator("Signed out by the server"), translator("_Sign In Again…"))
        case .locked(.locked): (translator("Keyring locked"), translator("_Retry"))
        case .locked(.unavailable): (translator("Keyring not available"), translator("_Retry"))
        }
    }

    public func title(for error: CredentialStoreError) -> String {
        switch error {
        case .locked: translator("Keyring Locked")
        case .unavailable: translator("Keyring Not Available")
        }
    }

    public func text(for error: CredentialStoreError) -> String {
        switch error {
        case .locked:
            translator("Parlance stores your sign-in details in the keyring. Unlock it, or choose where to store them.")
        case .unavailable:
            translator("Parlance could not reach the system keyring. Choose where to store your sign-in details.")
        }
    }
}
