import Synchronization

/// What others learn of the user's activity.
public struct Privacy: Equatable, Sendable {
    /// Whether others see which messages the user has read. The user's own devices always do.
    public var sharesReadReceipts: Bool
    /// Whether others see that the user is typing.
    public var sharesTyping: Bool

    public init(sharesReadReceipts: Bool = true, sharesTyping: Bool = true) {
        self.sharesReadReceipts = sharesReadReceipts
        self.sharesTyping = sharesTyping
    }
}

/// The user's choice of ``Privacy``, which backends read on any thread right before they send something.
public final class PrivacyPreference: Sendable {
    private let stored: Mutex<Privacy>

    public init(_ privacy: Privacy = Privacy()) {
        stored = Mutex(privacy)
    }

    public var current: Privacy {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }
}
