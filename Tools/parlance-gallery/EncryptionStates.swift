import ChatCore
import ChatViewModels

/// The states of encryption to draw.
enum EncryptionStates {
    static let ready = EncryptionStatus(
        condition: .on, identity: .confirmed, recovery: .ready, backup: .on(remaining: 12), otherConfirmedDevices: 1,
        isRecoveryProven: true, fingerprint: "R9ZlmDKHqp9mtJxGQ0iYVtDLVSvk4YlGn3HzgzRpGd8")
    static let unconfirmed = EncryptionStatus(
        condition: .on, identity: .unconfirmed, recovery: .incomplete, backup: .untrusted, otherConfirmedDevices: 1,
        hasPassphrase: true)
    static let replaced = EncryptionStatus(
        condition: .on, identity: .replaced, recovery: .incomplete, otherConfirmedDevices: 1)
    static let problems: [(name: String, problem: EncryptionCondition.Problem)] = [
        ("locked", .locked(.locked)), ("credential", .credentialLost), ("missing", .missing),
        ("damaged", .damaged(reason: "checksum")), ("replaced", .replaced), ("device", .noDevice),
        ("storage", .storage(reason: "full")), ("not-built", .notBuilt),
    ]

    // MARK: The windows

    /// The notices above the messages of a room.
    static var notices: [(name: String, trust: RoomTrust)] {
        let (ann, ida, tomas) = (FixtureConversation.ann.id, FixtureConversation.ida.id, FixtureConversation.tomas.id)
        let notices: [RoomTrustViewModel.Notice] = [
            .withoutIdentity([ann, tomas]), .changed(ida, others: 0), .holding(ida, others: 0), .ownReplaced,
        ]
        return notices.map { drawn($0) }
    }

    private static func drawn(_ notice: RoomTrustViewModel.Notice) -> (name: String, trust: RoomTrust) {
        switch notice {
        case .withoutIdentity(let users): (name: "missing", trust: RoomTrust(withoutIdentity: users))
        case .changed(let user, _): (name: "changed", trust: RoomTrust(changed: [user]))
        case .holding(let user, _): (name: "holding", trust: RoomTrust(changed: [user], holding: [user]))
        case .ownReplaced: (name: "own-replaced", trust: RoomTrust(isOwnReplaced: true))
        }
    }

    /// The banners that ask for the next step of the setup.
    static var banners: [(name: String, status: EncryptionStatus)] {
        let statuses = [
            EncryptionStatus(condition: .on, identity: .none), unconfirmed,
            EncryptionStatus(condition: .on, identity: .confirmed, recovery: .unsaved),
        ]
        return statuses.compactMap { status in status.need.map { (name: name(of: $0), status: status) } }
    }

    private static func name(of need: EncryptionNeed) -> String {
        switch need {
        case .setUp: "set-up"
        case .confirmDevice: "confirm"
        case .saveRecoveryKey: "unsaved"
        // No banner asks for it: it is offered in the preferences.
        case .enterRecoveryKey: "enter-key"
        }
    }

    /// What signing out would lose.
    static var signOuts: [(name: String, pending: PendingCount)] {
        var states = [
            (name: "keys", pending: PendingCount(messages: 1, drafts: 2, keys: 312)),
            (name: "uncounted", pending: PendingCount(keys: nil)),
        ]
        for recovery in EncryptionStatus.Recovery.allCases where recovery != .ready {
            states.append((name: "recovery-\(recovery)", pending: PendingCount(recovery: recovery)))
        }
        return states
    }

    // MARK: Preferences

    /// The states that the preferences show differently, other than ``ready``.
    static var preferences: [(name: String, status: EncryptionStatus)] {
        var states: [(name: String, status: EncryptionStatus)] = []
        for identity in EncryptionStatus.Identity.allCases where identity != .confirmed {
            states.append((name: "identity-\(identity)", status: status(with: identity)))
        }
        for recovery in EncryptionStatus.Recovery.allCases {
            states.append((name: "recovery-\(recovery)", status: status(with: recovery)))
        }
        for (name, problem) in problems {
            states.append((name: "off-\(name)", status: EncryptionStatus(condition: .off(problem))))
        }
        let backups: [(name: String, backup: EncryptionStatus.Backup)] = [
            ("off", .off), ("untrusted", .untrusted),
            ("failing", .failing(remaining: 12, reason: "M_LIMIT_EXCEEDED")),
        ]
        for (name, backup) in backups {
            var status = ready
            status.backup = backup
            states.append((name: "backup-\(name)", status: status))
        }
        var lacking = ready
        lacking.lacksBackupKey = true
        states.append((name: "lacks-keys", status: lacking))
        return states
    }

    private static func status(with identity: EncryptionStatus.Identity) -> EncryptionStatus {
        switch identity {
        case .unknown: EncryptionStatus(condition: .on)
        case .none: EncryptionStatus(condition: .on, identity: .none, recovery: .none, backup: .off)
        case .unconfirmed: unconfirmed
        case .confirmed: ready
        case .replaced: replaced
        }
    }

    /// A confirmed device whose recovery is not proven, in a state that other rows show differently, too: each of these
    /// needs no picture of its own.
    private static func status(with recovery: EncryptionStatus.Recovery) -> EncryptionStatus {
        var status = ready
        status.recovery = recovery
        status.isRecoveryProven = false
        switch recovery {
        case .unknown: status.backup = .unknown
        case .none: status.endsWithProgram = true
        case .incomplete: status.lacksIdentityKeys = true
        case .unsaved: status.backup = .on(remaining: 0)
        case .ready: status.isRestoring = true
        }
        return status
    }

    /// The name of what became of a key file; `nil` before there is one.
    static func name(of keyFile: EncryptionPreferencesViewModel.KeyFile) -> String? {
        switch keyFile {
        case .none: nil
        case .exporting: "exporting"
        case .importing: "importing"
        case .exported: "exported"
        case .imported: "imported"
        case .failed: "import-failed"
        }
    }

    // MARK: Verifications

    /// The phases of a verification, with every reason to cancel it.
    static var phases: [(name: String, phase: Verification.Phase)] {
        let emoji = [37, 15, 46, 13, 57, 9, 31].compactMap { VerificationEmoji(index: $0) }
        var phases: [Verification.Phase] = [
            .requested, .waiting, .preparing, .comparing(emoji: emoji, numbers: [3871, 1029, 7742]), .confirming, .done,
        ]
        for cancellation in Verification.Cancellation.allCases { phases.append(.canceled(cancellation)) }
        return phases.map { (name: name(of: $0), phase: $0) }
    }

    private static func name(of phase: Verification.Phase) -> String {
        switch phase {
        case .requested: "request"
        case .waiting: "waiting"
        case .preparing: "preparing"
        case .comparing: "emoji"
        case .confirming: "confirming"
        case .done: "done"
        case .canceled(let cancellation): "canceled-\(cancellation)"
        }
    }

    // MARK: Identities

    /// The identities of a user, each with the state of this device.
    static var identities: [(name: String, identity: UserIdentity, status: EncryptionStatus)] {
        let new = IdentityKey("new")
        let identities: [UserIdentity] = [
            .unknown, .none, .unverified, .changed(to: new), .verified, .changedAfterVerification(to: new),
        ]
        var states = identities.map { (name: name(of: $0), identity: $0, status: ready) }
        // An unconfirmed device cannot verify anyone, and without keys no identity is known.
        for identity in [UserIdentity.unverified, .changedAfterVerification(to: new)] {
            states.append((name: "\(name(of: identity))-unconfirmed", identity: identity, status: unconfirmed))
        }
        states.append((name: "off", identity: .unknown, status: EncryptionStatus(condition: .off(.credentialLost))))
        return states
    }

    private static func name(of identity: UserIdentity) -> String {
        switch identity {
        case .unknown: "unknown"
        case .none: "none"
        case .unverified: "unverified"
        case .changed: "changed"
        case .verified: "verified"
        case .changedAfterVerification: "changed-after-verification"
        }
    }
}
