/// What is to be said of a message that can be read in an encrypted room; a message without any is as it should be.
///
/// The raw values are in the files of users: they never change.
public enum MessageTrust: String, CaseIterable, Hashable, Sendable, Codable {
    /// Its key is from a backup or a file, which prove nothing of its sender.
    case unproven
    /// It was sent in the clear.
    case notEncrypted
    /// Its sender had another identity when they were verified.
    case changedIdentity
}
