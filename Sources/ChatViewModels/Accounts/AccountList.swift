/// What the account button and its list show of the accounts.
public nonisolated struct AccountList: Equatable, Sendable {
    public let rows: [AccountsCoordinator.Row]

    public init(_ rows: [AccountsCoordinator.Row]) {
        self.rows = rows
    }

    /// The row of the displayed account.
    public var selectedRow: AccountsCoordinator.Row? { rows.first { $0.isSelected } }
    /// Whether there is more than one account to choose from.
    public var hasChoice: Bool { rows.count > 1 }
    /// Whether the button has a badge: an account that is not displayed has unread messages.
    public var hasBadge: Bool { rows.contains { !$0.isSelected && $0.unreadCount > 0 } }
    /// Whether the list offers to sign in to the displayed account again.
    public var offersSignIn: Bool { selectedRow?.canSignInAgain == true }
    /// Whether the list offers to sign out of the displayed account.
    public var offersSignOut: Bool { selectedRow?.isLocal == false }
    /// Whether that is possible now.
    public var canSignOut: Bool { selectedRow?.isSigningOut == false }
}

extension AccountsCoordinator.Row {
    /// Whether the row itself offers to sign out: an account that cannot be opened cannot be displayed either.
    public nonisolated var offersSignOut: Bool { !isOpen && !isSelected }

    /// The text of the unread badge, or `nil` if it is hidden; capped at `99+`.
    public nonisolated var unreadLabel: String? {
        unreadCount == 0 ? nil : unreadCount > 99 ? "99+" : String(unreadCount)
    }
}

extension AccountsCoordinator.Banner {
    /// Whether the user has to act; a lost connection, for example, recovers without that.
    public nonisolated var isProblem: Bool {
        switch self {
        case .connecting, .offline: false
        case .untrusted, .signedOut, .locked: true
        }
    }
}
