import ChatCore

/// The texts of the account list.
public struct AccountText {
    private let wording: Wording
    private var translator: Translator { wording.translator }

    public init(_ wording: Wording) {
        self.wording = wording
    }

    public func name(of row: AccountsCoordinator.Row) -> String {
        row.isLocal ? translator("This Computer") : row.name
    }

    /// The title above the rooms: with several accounts, whose rooms they are.
    public func sidebarTitle(of accounts: AccountList) -> String {
        guard accounts.hasChoice, let row = accounts.selectedRow else { return translator("Parlance") }
        return name(of: row)
    }

    /// The line below the name: what is being done or what is wrong, or else the user ID.
    public func detail(of row: AccountsCoordinator.Row) -> String {
        if row.isSigningOut { return translator("Signing out…") }
        return switch row.condition {
        case .broken: translator("Could not open account. Select it to retry.")
        case .signedOut: translator("Signed out")
        case .locked: translator("Keyring locked")
        case .offline: translator("Offline")
        case .untrusted: translator("Server certificate not trusted")
        case .connecting, .online: row.encryption.problem.flatMap(text(for:)) ?? row.account?.id ?? ""
        }
    }

    /// Why an account cannot decrypt; `nil` if the cause is not the account's.
    private func text(for problem: EncryptionCondition.Problem) -> String? {
        switch problem {
        case .notBuilt: nil
        case .locked: translator("Encryption not available: unlock the keyring")
        case .credentialLost:
            translator("Encryption not available: the key that unlocks the keys of this device is lost")
        case .missing: translator("Encryption not available: the keys of this device are missing")
        case .damaged: translator("Encryption not available: the keys of this device are damaged")
        case .replaced: translator("Encryption not available: another app has this device’s keys")
        case .noDevice: translator("Encryption not available: the server did not name this device")
        case .storage: translator("Encryption not available: the keys of this device could not be saved")
        }
    }

    /// The button with which a row signs out of its account.
    public func signOutButton(of row: AccountsCoordinator.Row) -> String {
        translator("Sign Out of {account}", ["account": name(of: row)])
    }

    /// What a screen reader says for an account.
    public func accessibleText(of row: AccountsCoordinator.Row) -> String {
        [name(of: row), detail(of: row)].filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// What a screen reader says for the button that opens the list.
    public func accessibleText(of accounts: AccountList) -> String {
        let name = accounts.selectedRow.map { self.name(of: $0) } ?? ""
        return accounts.hasBadge
            ? translator("Account: {name}, unread messages in another account", ["name": name])
            : translator("Account: {name}", ["name": name])
    }
}
