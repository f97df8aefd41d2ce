/// An account on a server. Its credential is stored separately, in a ``CredentialStore``.
public struct Account: Identifiable, Equatable, Sendable {
    /// The user's identifier.
    public let id: String
    /// The type of the backend, such as `matrix`.
    public var kind: String
    /// The server's address.
    public var server: String
    /// The device ID.
    public var device: String
    /// The user's display name.
    public var name: String

    public init(id: String, kind: String, server: String, device: String, name: String) {
        self.id = id
        self.kind = kind
        self.server = server
        self.device = device
        self.name = name
    }
}
