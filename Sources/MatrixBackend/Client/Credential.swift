import Synchronization

/// The token of an account, which changes when the user signs in again.
final class Credential: Sendable {
    private let current: Mutex<AccessToken?>

    init(_ token: AccessToken?) {
        current = Mutex(token)
    }

    var token: AccessToken? {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
