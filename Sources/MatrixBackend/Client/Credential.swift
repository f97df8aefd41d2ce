import Synchronization

/// The token of an account, which changes when the user signs in again.
final class Credential: Sendable {
    private let current: Mutex<AccessToken?>
    private let listener = Mutex<(@Sendable (_ isSoft: Bool) -> Void)?>(nil)

    init(_ token: AccessToken?) {
        current = Mutex(token)
    }

    /// Has `listener` told when the server knows the token no more, whatever was asked with it.
    func onRejection(_ listener: @escaping @Sendable (_ isSoft: Bool) -> Void) {
        self.listener.withLock { $0 = listener }
    }

    /// An answer to a request that an earlier session made says nothing of this one.
    func reportRejection(_ token: AccessToken?, isSoft: Bool) {
        guard let token, token == self.token else { return }
        listener.withLock { $0 }?(isSoft)
    }

    var token: AccessToken? {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
