/// A warning about a readable message in an encrypted room; `nil` for the normal case.
///
/// The raw values are stored: never change one.
public enum MessageTrust: String, CaseIterable, Hashable, Sendable, Codable {
    /// Its key is from a backup or a file, which does not prove who sent the message.
    case unproven
    /// It was sent in the clear.
    case notEncrypted
    /// The sender's identity has changed since they were verified.
    case changedIdentity
}
