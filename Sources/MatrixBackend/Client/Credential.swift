import Synchronization

/// An account's access token, which changes when the user signs in again.
final class Credential: Sendable {
    /// The server's statement that it does not know a token.
    struct Rejection: Sendable {
        let token: AccessToken
        let isSoft: Bool
    }

    private let current: Mutex<AccessToken?>
    /// Reports that the server has rejected the current token in any request. For one observer; by the time it handles a
    /// rejection, another token may be current.
    let rejections: AsyncStream<Rejection>
    private let rejection: AsyncStream<Rejection>.Continuation

    init(_ token: AccessToken?) {
        current = Mutex(token)
        (rejections, rejection) = AsyncStream.makeStream(of: Rejection.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Ignores tokens other than the current one: a late response to an earlier session's request does not concern this
    /// one.
    func reportRejection(_ token: AccessToken?, isSoft: Bool) {
        guard let token, token == self.token else { return }
        rejection.yield(Rejection(token: token, isSoft: isSoft))
    }

    var token: AccessToken? {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
