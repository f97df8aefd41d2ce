/// A credential of an account. Redacted in descriptions, to keep it out of logs.
public struct AccountCredential: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    public let value: String

    public init(_ value: String) {
        self.value = value
    }

    public var description: String { "Secret" }
    public var debugDescription: String { "Secret" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
