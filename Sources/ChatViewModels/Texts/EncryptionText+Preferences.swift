public import ChatCore
public import Foundation

/// The texts of an account's encryption in the preferences.
extension EncryptionText {
    /// A sentence about the encryption state.
    public func summary(_ status: EncryptionStatus?) -> String {
        guard let status else { return translator("Loading…") }
        if let problem = status.condition.problem { return text(for: problem) }
        switch status.identity {
        case .unknown: return translator("The server has not reported yet how encryption is set up.")
        case .none: return translator("Encryption is not set up for this account.")
        case .unconfirmed: return translator("This device is not confirmed.")
        case .replaced: return translator("Your account has a new identity, which has not confirmed this device.")
        case .confirmed where status.canRecoverKeys:
            return translator("This device is confirmed, but lacks some keys.")
        case .confirmed:
            return status.endsWithProgram
                ? translator("This device is confirmed, and is signed out when Parlance closes.")
                : translator("This device is confirmed.")
        }
    }

    /// The encryption state of an account, which nothing is known of while it is signed out: its keys were not opened, or
    /// what they report is outdated.
    public func summary(_ state: EncryptionPreferencesViewModel.State) -> String {
        guard state.isSignedOut, state.status?.condition.problem == nil else { return summary(state.status) }
        return translator("This account is signed out. The keys on this device were not deleted.")
    }

    public func text(for problem: EncryptionCondition.Problem) -> String {
        switch problem {
        case .locked: translator("Unlock the keyring to use encryption.")
        case .credentialLost: translator("The key that unlocks the keys of this device is lost. Sign out and in again.")
        case .missing: translator("The keys of this device are missing. Sign out and in again.")
        case .damaged: translator("The keys of this device are damaged. Sign out and in again.")
        case .replaced: translator("Another app has this device’s keys. Sign in with a password.")
        case .noDevice: translator("The server did not name this device. Sign in with a password.")
        case .storage: translator("The keys of this device could not be saved. Check the free space on the disk.")
        case .notBuilt: translator("This version of Parlance was built without encryption.")
        }
    }

    /// A key in groups of four characters.
    public func fingerprint(_ key: String) -> String {
        var groups: [Substring] = []
        var rest = key[...]
        while !rest.isEmpty {
            groups.append(rest.prefix(4))
            rest = rest.dropFirst(4)
        }
        return groups.joined(separator: " ")
    }

    // MARK: Recovery and backup

    /// What is known of the recovery key. Of an account that is signed out, that is nothing.
    public func recovery(_ state: EncryptionPreferencesViewModel.State) -> String { recovery(state.currentStatus) }

    /// What is known of the backup. Of an account that is signed out, that is nothing.
    public func backup(_ state: EncryptionPreferencesViewModel.State) -> String { backup(state.currentStatus) }

    public func recovery(_ status: EncryptionStatus?) -> String {
        switch status?.recovery {
        case .unknown, nil: translator("Not known yet")
        case Optional.some(.none): translator("Your account has none")
        case .incomplete: translator("Does not unlock everything on this device")
        case .unsaved: translator("Not saved yet")
        case .ready: unlocked(status)
        }
    }

    /// Without a proof, the recovery key may be one that this device has never seen, and the server may have made the
    /// entries of the secret storage up.
    private func unlocked(_ status: EncryptionStatus?) -> String {
        let isProven = status?.isRecoveryProven == true
        if case .on = status?.backup {
            return isProven
                ? translator("Unlocks your identity and backup on a new device")
                : translator("Unlocks your identity and backup, according to the server")
        }
        return isProven
            ? translator("Unlocks your identity on a new device")
            : translator("Unlocks your identity, according to the server")
    }

    public func recoveryButton(_ status: EncryptionStatus?) -> String {
        status?.recovery == Optional.some(.none) ? translator("_Create…") : translator("New _Key…")
    }

    public func backup(_ status: EncryptionStatus?) -> String {
        if status?.isRestoring == true { return translator("Restoring keys…") }
        switch status?.backup {
        case .unknown, nil: return translator("Not known yet")
        case .off: return translator("If you lose this device, its messages can no longer be read")
        // The new identity has a backup of its own.
        case .on where status?.identity == .replaced: return translator("Not known yet")
        case .on where status?.lacksBackupKey == true:
            return translator("This device cannot restore keys from the backup")
        case .on(remaining: 0): return translator("All keys are in the backup")
        case .on(let remaining): return remainingKeys(remaining)
        // An unconfirmed device cannot tell who made it.
        case .untrusted where status?.identity != .confirmed:
            return translator("Confirm this device to use the backup")
        case .untrusted: return translator("The backup was made by an unconfirmed device and is not used")
        case .failing(let remaining, let reason):
            return translator("The server rejects the backup: {reason}", ["reason": reason]) + "\n"
                + remainingKeys(remaining)
        }
    }

    private func remainingKeys(_ count: Int) -> String {
        translator.plural("{count} key is not in the backup yet", "{count} keys are not in the backup yet", count)
    }

    /// The question before deleting the backup.
    public var turningOffBackup: ConfirmationText {
        ConfirmationText(
            heading: translator("Turn Off Backup?"),
            body: translator(
                "The backup is deleted from the server. Messages whose keys are only in the backup can no longer be read."
            ), action: translator("_Turn Off"))
    }

    // MARK: Key file

    /// The outcome of a key file's export or import, or `nil`.
    public func result(_ keyFile: EncryptionPreferencesViewModel.KeyFile) -> String? {
        switch keyFile {
        case .none: nil
        case .exporting: translator("Exporting keys…")
        case .importing: translator("Importing keys…")
        case .exported(let count): translator.plural("{count} key exported", "{count} keys exported", count)
        case .imported(let count): imported(count)
        case .failed(let error): text(for: error)
        }
    }

    private func imported(_ count: ImportedKeyCount) -> String {
        let read = translator.plural(
            "{count} key read, {new} of them new", "{count} keys read, {new} of them new", count.total,
            ["new": String(count.new)])
        guard count.rejected > 0 else { return read }
        return read + "\n"
            + translator.plural("{count} key could not be read", "{count} keys could not be read", count.rejected)
    }

    /// The suggested file name for an account's keys.
    public var keyFileName: String { translator("Parlance keys.txt") }

    // MARK: Devices

    /// Why devices could not be listed, or one not changed or confirmed.
    public func deviceText(for error: EncryptionError) -> String {
        // Elsewhere, it is this device that another one was to confirm.
        error == .noDevice
            ? translator("The device cannot be confirmed: its keys are missing or have changed.") : text(for: error)
    }

    public func name(_ device: AccountDevice) -> String { device.name.isEmpty ? device.id : device.name }

    /// - Parameter date: formats the day of a timestamp.
    public func detail(_ device: AccountDevice, _ date: (Date) -> String) -> String {
        var parts = [trust(device.trust)]
        if device.isThis {
            parts.insert(translator("This device"), at: 0)
        } else if let seen = device.lastSeen {
            parts.append(translator("Last seen {date}", ["date": date(seen)]))
        }
        return parts.filter { !$0.isEmpty }.joined(separator: " · ")
    }

    private func trust(_ trust: AccountDevice.Trust) -> String {
        switch trust {
        case .confirmed: translator("Confirmed")
        case .unconfirmed: translator("Not confirmed")
        case .withoutEncryption: translator("Without encryption")
        case .unknown: translator("Not known yet")
        case .unproven: translator("Confirm this device to check")
        }
    }

    /// The question before signing out a device.
    public func signingOut(_ device: AccountDevice) -> ConfirmationText {
        ConfirmationText(
            heading: translator("Sign Out “{device}”?", ["device": name(device)]),
            body: translator("The device can no longer read or send messages of this account."),
            action: translator("_Sign Out"))
    }
}

extension AccountDevice.Trust {
    /// `nil` for no icon.
    public nonisolated var iconName: String? {
        switch self {
        case .confirmed: "parlance-verified-symbolic"
        case .unconfirmed: "parlance-warning-symbolic"
        case .withoutEncryption: "parlance-unlocked-symbolic"
        case .unknown: nil
        case .unproven: "parlance-unproven-symbolic"
        }
    }
}
