public import ChatCore
import Foundation

/// The texts about signing in, and about the state of an account.
public struct SignInText {
    private let wording: Wording
    private var translator: Translator { wording.translator }

    public init(_ wording: Wording) {
        self.wording = wording
    }

    public func text(for problem: SignInProblem) -> String {
        switch problem {
        case .notAnAddress:
            translator("Enter a server’s name, such as example.org, or its address with https://.")
        case .unreachable: translator("The server does not answer. Check its name, and your connection.")
        case .untrusted(let certificate): text(for: certificate)
        case .noHomeserver: translator("There is no Matrix server at this address.")
        case .wrongPassword: translator("The server does not know this name with this password.")
        case .wrongToken: translator("The server does not know this token.")
        case .deactivated: translator("This account was closed.")
        case .tooOften(let wait): tooOften(wait)
        case .otherUser: translator("That is another account than the one to sign in again.")
        case .alreadyHere: translator("This account is here already.")
        case .rejected(let reason): translator("The server refused: %s").replacing("%s", with: reason)
        case .storage: translator("What is kept of this account on this computer could not be opened.")
        }
    }

    private func text(for certificate: SignInProblem.Certificate) -> String {
        switch certificate {
        case .unknownIssuer: translator("Nobody who is trusted vouches for this server’s certificate.")
        case .wrongName: translator("This server’s certificate is another server’s.")
        case .expired: translator("This server’s certificate has expired.")
        case .notYetValid:
            translator("This server’s certificate is not valid yet. Is this computer’s clock right?")
        case .other: translator("This server’s certificate is not to be trusted.")
        }
    }

    private func tooOften(_ wait: Duration?) -> String {
        guard let seconds = wait.map({ Int($0.components.seconds) + 1 }) else {
            return translator("Too many attempts. Wait a little.")
        }
        return translator.plural("Too many attempts. Wait %d second.", "Too many attempts. Wait %d seconds.", seconds)
            .replacing("%d", with: "\(seconds)")
    }

    public func text(for banner: AccountsCoordinator.Banner) -> (text: String, action: String) {
        switch banner {
        case .connecting: (translator("Connecting…"), translator("_Retry"))
        case .offline: (translator("The server does not answer"), translator("_Retry"))
        case .untrusted(let certificate): (text(for: certificate), translator("_Retry"))
        case .signedOut(isSoft: true): (translator("Your password is needed again"), translator("_Sign In…"))
        case .signedOut(isSoft: false): (translator("Signed out by the server"), translator("_Sign In Again…"))
        case .locked(.locked): (translator("The keyring is locked"), translator("_Retry"))
        case .locked(.unavailable): (translator("The keyring does not answer"), translator("_Retry"))
        }
    }

    public func title(for error: CredentialStoreError) -> String {
        switch error {
        case .locked: translator("The Keyring Is Locked")
        case .unavailable: translator("No Keyring")
        }
    }

    public func text(for error: CredentialStoreError) -> String {
        switch error {
        case .locked: translator("Parlance keeps what signs you in there. Unlock it, or choose another place.")
        case .unavailable:
            translator("Parlance would keep what signs you in in the desktop’s keyring, and none answers here.")
        }
    }
}
