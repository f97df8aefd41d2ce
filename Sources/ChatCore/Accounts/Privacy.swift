import Synchronization

/// What the user discloses to other users and to servers.
public struct Privacy: Equatable, Sendable {
    /// Whether others see which messages the user has read. The user's other devices always do.
    public var sharesReadReceipts: Bool
    /// Whether others see that the user is typing.
    public var sharesTyping: Bool
    /// Whether new direct chats are encrypted.
    public var encryptsDirectChats: Bool

    public init(sharesReadReceipts: Bool = true, sharesTyping: Bool = true, encryptsDirectChats: Bool = true) {
        self.encryptsDirectChats = encryptsDirectChats
        self.sharesReadReceipts = sharesReadReceipts
        self.sharesTyping = sharesTyping
    }
}

/// The user's choice of ``Privacy``, for all accounts and for single ones, which backends read on any thread right before they send something.
public final class PrivacyPreference: Sendable {
    private struct Choice {
        var privacy: Privacy
        var privateAccounts: Set<String> = []
    }

    private let stored: Mutex<Choice>

    public init(_ privacy: Privacy = Privacy()) {
        stored = Mutex(Choice(privacy: privacy))
    }

    /// The privacy of accounts that are not private.
    public var current: Privacy {
        get { stored.withLock { $0.privacy } }
        set { stored.withLock { $0.privacy = newValue } }
    }

    /// The user IDs of accounts that send neither read receipts nor typing notifications, whatever ``current`` is.
    public var privateAccounts: Set<String> {
        get { stored.withLock { $0.privateAccounts } }
        set { stored.withLock { $0.privateAccounts = newValue } }
    }

    public func current(of user: MemberID) -> Privacy {
        stored.withLock {
            var privacy = $0.privacy
            if $0.privateAccounts.contains(user.rawValue) {
                (privacy.sharesReadReceipts, privacy.sharesTyping) = (false, false)
            }
            return privacy
        }
    }
}
