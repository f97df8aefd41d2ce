/// Who the user is somewhere. Its secrets are elsewhere.
public struct Account: Identifiable, Equatable, Sendable {
    /// Under which the backend knows the user.
    public let id: String
    /// The backend's own name, such as `matrix`.
    public var kind: String
    /// Where the backend talks to.
    public var server: String
    /// The name of this computer there.
    public var device: String
    /// What the user is called there.
    public var name: String

    public init(id: String, kind: String, server: String, device: String, name: String) {
        self.id = id
        self.kind = kind
        self.server = server
        self.device = device
        self.name = name
    }
}
