import ChatCore
import ChatViewModels
import GtkKit

/// Localized sign-in texts.
enum SignInText {
    static func text(for problem: SignInProblem) -> String {
        switch problem {
        case .notAnAddress:
            translated("Enter a server’s name, such as example.org, or its address with https://.")
        case .unreachable: translated("The server does not answer. Check its name, and your connection.")
        case .untrusted(let certificate): text(for: certificate)
        case .noHomeserver: translated("There is no Matrix server at this address.")
        case .wrongPassword: translated("The server does not know this name with this password.")
        case .wrongToken: translated("The server does not know this token.")
        case .deactivated: translated("This account was closed.")
        case .tooOften(let wait): tooOften(wait)
        case .otherUser: translated("That is another account than the one to sign in again.")
        case .alreadyHere: translated("This account is here already.")
        case .rejected(let reason): translated("The server refused: %s").replacing("%s", with: reason)
        case .storage: translated("What is kept of this account on this computer could not be opened.")
        }
    }

    private static func text(for certificate: SignInProblem.Certificate) -> String {
        switch certificate {
        case .unknownIssuer: translated("Nobody who is trusted vouches for this server’s certificate.")
        case .wrongName: translated("This server’s certificate is another server’s.")
        case .expired: translated("This server’s certificate has expired.")
        case .notYetValid:
            translated("This server’s certificate is not valid yet. Is this computer’s clock right?")
        case .other: translated("This server’s certificate is not to be trusted.")
        }
    }

    private static func tooOften(_ wait: Duration?) -> String {
        guard let seconds = wait.map({ Int($0.components.seconds) + 1 }) else {
            return translated("Too many attempts. Wait a little.")
        }
        return translated(
            "Too many attempts. Wait %d second.", "Too many attempts. Wait %d seconds.", count: seconds
        ).replacing("%d", with: "\(seconds)")
    }

    static func text(for banner: AccountsCoordinator.Banner) -> (text: String, action: String) {
        switch banner {
        case .connecting: (translated("Connecting…"), translated("_Retry"))
        case .offline: (translated("The server does not answer"), translated("_Retry"))
        case .untrusted(let certificate): (text(for: certificate), translated("_Retry"))
        case .signedOut(isSoft: true): (translated("Your password is needed again"), translated("_Sign In…"))
        case .signedOut(isSoft: false): (translated("Signed out by the server"), translated("_Sign In Again…"))
        case .locked(.locked): (translated("The keyring is locked"), translated("_Retry"))
        case .locked(.unavailable): (translated("The keyring does not answer"), translated("_Retry"))
        }
    }

    static func title(for error: CredentialStoreError) -> String {
        switch error {
        case .locked: translated("The Keyring Is Locked")
        case .unavailable: translated("No Keyring")
        }
    }

    static func text(for error: CredentialStoreError) -> String {
        switch error {
        case .locked: translated("Parlance keeps what signs you in there. Unlock it, or choose another place.")
        case .unavailable:
            translated("Parlance would keep what signs you in in the desktop’s keyring, and none answers here.")
        }
    }
}
