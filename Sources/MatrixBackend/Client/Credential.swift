import Synchronization

/// An account's access token, which changes when the user signs in again.
final class Credential: Sendable {
    private let current: Mutex<AccessToken?>
    private let listener = Mutex<(@Sendable (_ isSoft: Bool) -> Void)?>(nil)

    init(_ token: AccessToken?) {
        current = Mutex(token)
    }

    /// Sets the function to call when the server rejects the current token in any request.
    func onRejection(_ listener: @escaping @Sendable (_ isSoft: Bool) -> Void) {
        self.listener.withLock { $0 = listener }
    }

    /// Ignores tokens other than the current one: a late response to an earlier session's request does not concern this
    /// one.
    func reportRejection(_ token: AccessToken?, isSoft: Bool) {
        guard let token, token == self.token else { return }
        listener.withLock { $0 }?(isSoft)
    }

    var token: AccessToken? {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
