/// A warning about a readable message in an encrypted room; `nil` for the normal case.
///
/// The raw values are stored: never change one.
public enum MessageTrust: String, CaseIterable, Hashable, Sendable, Codable {
    /// Its key is from a backup or a file, which does not prove who sent the message.
    case unproven
    /// It, or a file in it, was sent in the clear.
    case notEncrypted
    /// The sender's identity has changed since they were verified.
    case changedIdentity

    /// Stored; greater is worse.
    public var severity: Int64 {
        switch self {
        case .unproven: 1
        case .notEncrypted: 2
        case .changedIdentity: 3
        }
    }

    /// What is displayed is only as certain as the least certain of its parts.
    public static func worst(of trusts: MessageTrust?...) -> MessageTrust? {
        trusts.compactMap(\.self).max { $0.severity < $1.severity }
    }
}
