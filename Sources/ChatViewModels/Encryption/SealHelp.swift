public import ChatCore

/// What the user can do to make an encrypted message readable.
public nonisolated enum SealHelp: Equatable, Sendable {
    /// Restore the key with the recovery key or from another device.
    case restoreKeys
    /// Confirm this device: the sender shares keys with confirmed devices only.
    case confirmDevice
    /// Try again to open this device's keys.
    case retry
}

extension Conversation {
    /// The next step that the account's encryption needs.
    private var encryptionNeed: EncryptionNeed? { encryptionOfAccount?.need }

    /// What the user can do by now, for each reason for which a message may be unreadable.
    public var sealHelp: [SealReason: SealHelp] {
        var all: [SealReason: SealHelp] = [:]
        for seal in SealReason.allCases { all[seal] = help(for: seal) }
        return all
    }

    /// Returns what the user can do to make a message readable, or `nil` if nothing.
    public func help(for seal: SealReason) -> SealHelp? {
        switch seal {
        case .beforeSignIn, .beforeKey: encryptionNeed == .confirmDevice || lacksBackupKey ? .restoreKeys : nil
        // The backup may have what the sender has not sent to this device.
        case .noKey: lacksBackupKey ? .restoreKeys : nil
        case .unconfirmedDevice: encryptionNeed == .confirmDevice ? .confirmDevice : nil
        case .keysLocked: .retry
        case .keysUnavailable: encryptionOfAccount?.status?.condition.problem?.canBeRetried == true ? .retry : nil
        case .beforeMembership, .withheld, .repeated, .otherSender, .unconfirmedSender, .unknownSender,
            .unknownAlgorithm, .damaged, .notBuilt, .notFetched:
            nil
        }
    }

    private var lacksBackupKey: Bool {
        guard let status = encryptionOfAccount?.status else { return false }
        return status.canRecoverKeys && status.lacksBackupKey
    }

    public func help(_ help: SealHelp) {
        switch help {
        case .restoreKeys, .confirmDevice: requests.add(.setUpEncryption)
        case .retry: session.retry()
        }
    }
}
