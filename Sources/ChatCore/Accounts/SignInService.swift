public import Foundation

/// Signs accounts in, step by step: discover the server, log in, store the credential, start syncing.
public protocol SignInService: Sendable {
    /// Discovers the homeserver.
    /// - Parameter address: A server name, a URL, or a user ID, as typed.
    /// - Throws: ``SignInProblem``, or `CancellationError`.
    func server(at address: String) async throws -> SignInServer
    /// Opens a session. Continue with ``activate(_:)``, or end it with ``abandon(_:)``.
    ///
    /// - Parameter again: The signed-out account to sign in again, whose device is reused; `nil` for a new account.
    /// - Throws: ``SignInProblem``, or `CancellationError`.
    func signIn(to server: SignInServer, with credentials: SignInCredentials, again: String?) async throws -> Account
    /// Stores the credential of the account that logged in.
    /// - Throws: ``CredentialStoreError``, or `CancellationError`.
    func storeCredential(of account: String, in location: CredentialLocation) async throws
    /// Opens the account's store and starts syncing.
    /// - Throws: ``SignInProblem``.
    func activate(_ account: String) async throws
    /// Ends a session that was not activated.
    func abandon(_ account: String) async
}

/// A homeserver and its supported login flows.
public struct SignInServer: Equatable, Sendable {
    public var url: URL
    public var supportsPassword: Bool
    /// Whether it supports single sign-on in a web browser (`m.login.sso`).
    public var hasWebPage: Bool

    public init(url: URL, supportsPassword: Bool, hasWebPage: Bool) {
        self.url = url
        self.supportsPassword = supportsPassword
        self.hasWebPage = hasWebPage
    }

    /// What users call it: the host, with the port if the address has one.
    public var name: String {
        guard let host = url.host() else { return url.absoluteString }
        return url.port.map { "\(host):\($0)" } ?? host
    }
}

public enum SignInCredentials: Sendable {
    case password(name: String, AccountCredential)
    /// An access token of a session that another program opened.
    case accessToken(AccountCredential)
}

/// Why signing in failed. Reasons are technical and contain no secrets.
public enum SignInProblem: Error, Equatable, Sendable {
    /// The TLS certificate's problem.
    public enum Certificate: Equatable, Sendable {
        case unknownIssuer, wrongName, expired, notYetValid, other
    }

    /// Not an address, or one with an unencrypted connection.
    case notAnAddress
    case unreachable(reason: String)
    /// The certificate is not trusted. Nothing was sent to the server.
    case untrusted(Certificate)
    /// The server is not a homeserver.
    case noHomeserver(reason: String)
    /// The user name or password is wrong.
    case wrongPassword
    case wrongToken
    /// The account was deactivated.
    case deactivated
    /// Rate-limited; the duration is `nil` if the server did not send one.
    case tooOften(wait: Duration?)
    /// Signed in as a different user than the signed-out account's.
    case otherUser
    /// The token is that of another device, while the keys of the account's device are still stored.
    case otherDevice
    case alreadyHere
    case rejected(reason: String)
    /// The account's store could not be opened.
    case storage(reason: String)
    /// The account's credential could not be read.
    case credential(CredentialStoreError)
}
