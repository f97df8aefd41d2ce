public import ChatCore

/// What may make a message readable that is encrypted.
public nonisolated enum SealHelp: Equatable, Sendable {
    /// The recovery key, or another device, has the key.
    case restoreKeys
    /// Its sender shares keys with confirmed devices only.
    case confirmDevice
    /// The keys of this device may be opened now.
    case retry
}

extension Conversation {
    /// What is missing in the account's encryption.
    public var encryptionNeed: EncryptionNeed? { encryptionOfAccount?.need }

    /// Returns what would make a message readable; `nil` for nothing that the user can do.
    public func help(for seal: SealReason) -> SealHelp? {
        switch seal {
        case .beforeSignIn, .beforeKey: encryptionNeed == .confirmDevice ? .restoreKeys : nil
        case .unconfirmedDevice: encryptionNeed == .confirmDevice ? .confirmDevice : nil
        case .keysLocked: .retry
        case .noKey, .beforeMembership, .withheld, .repeated, .otherSender, .unconfirmedSender, .unknownSender,
            .unknownAlgorithm, .damaged, .keysUnavailable, .notBuilt, .notFetched:
            nil
        }
    }

    public func help(_ help: SealHelp) {
        switch help {
        case .restoreKeys, .confirmDevice: requests.add(.setUpEncryption)
        case .retry: session.retry()
        }
    }
}
