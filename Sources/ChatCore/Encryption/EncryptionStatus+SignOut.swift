extension EncryptionStatus {
    /// The recovery that is left once this device is signed out: ``Recovery/ready`` if the recovery key or another
    /// confirmed device opens the account's encrypted messages, or if there is neither an identity nor a backup. What
    /// only the server says of the recovery key counts as unknown.
    public var recoveryAfterSignOut: Recovery {
        guard otherConfirmedDevices == 0 else { return .ready }
        let hasBackup =
            switch backup {
            case .on, .untrusted, .failing: true
            case .unknown, .off: false
            }
        switch (identity, recovery) {
        case (_, .unsaved): return recovery
        case (.none, _) where !hasBackup: return .ready
        case (_, .ready): return isRecoveryProven ? .ready : .unknown
        // Without secret storage, it is the identity that tells whether anything was set up.
        case (.unknown, _) where !hasBackup: return .unknown
        default: return recovery
        }
    }
}
