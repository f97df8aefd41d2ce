public import Foundation

/// Brings accounts in, step by step: find the server, log in, keep the secret, begin.
public protocol SignInService: Sendable {
    /// - Parameter address: a server's name, a URL, or a user's identifier, as it was typed.
    /// - Throws: ``SignInProblem``, or `CancellationError`.
    func server(at address: String) async throws -> SignInServer
    /// Opens a session. It goes on by ``begin(_:)``, or ends by ``abandon(_:)``.
    ///
    /// - Parameter again: an account that is there already and was signed out: its device goes on.
    /// - Throws: ``SignInProblem``, or `CancellationError`.
    func logIn(to server: SignInServer, with credentials: SignInCredentials, again: String?) async throws -> Account
    /// Keeps what signs in the account that logged in.
    /// - Throws: ``CredentialStoreError``, or `CancellationError`.
    func storeCredential(of account: String, in location: CredentialLocation) async throws
    /// Opens what is kept of the account, and follows its server.
    /// - Throws: ``SignInProblem``.
    func activate(_ account: String) async throws
    /// Ends the session that was opened.
    func abandon(_ account: String) async
}

/// A server that answered, and how one signs in there.
public struct SignInServer: Equatable, Sendable {
    public var url: URL
    public var supportsPassword: Bool
    /// Whether it has one sign in on its web site.
    public var hasWebPage: Bool

    public init(url: URL, supportsPassword: Bool, hasWebPage: Bool) {
        self.url = url
        self.supportsPassword = supportsPassword
        self.hasWebPage = hasWebPage
    }
}

public enum SignInCredentials: Sendable {
    case password(name: String, AccountCredential)
    /// Of a session that another program opened.
    case accessToken(AccountCredential)
}

/// Why signing in did not go on. Reasons are technical, and hold no secret.
public enum SignInProblem: Error, Equatable, Sendable {
    /// What is wrong with the certificate of a server.
    public enum Certificate: Equatable, Sendable {
        case unknownIssuer, wrongName, expired, notYetValid, other
    }

    /// What was typed is no address, or one whose traffic anyone could read.
    case notAnAddress
    case unreachable(reason: String)
    /// The server does not prove to be who it should be: nothing was sent to it.
    case untrusted(Certificate)
    /// What answers there is no server of this kind.
    case noHomeserver(reason: String)
    /// Name and password do not belong together.
    case wrongPassword
    case wrongToken
    /// The account was closed.
    case deactivated
    /// Too many attempts; nil if the server did not say when it takes the next one.
    case tooOften(wait: Duration?)
    /// Signed in, but as another user than the one who was to sign in again.
    case otherUser
    case alreadyHere
    case rejected(reason: String)
    /// What is kept of the account here could not be opened.
    case storage(reason: String)
}
