import Synchronization

/// An account's access token, which changes when the user signs in again.
final class Credential: Sendable {
    private let current: Mutex<AccessToken?>
    /// Reports that the server has rejected the current token in any request, and whether that is soft. For one observer.
    let rejections: AsyncStream<Bool>
    private let rejection: AsyncStream<Bool>.Continuation

    init(_ token: AccessToken?) {
        current = Mutex(token)
        (rejections, rejection) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Ignores tokens other than the current one: a late response to an earlier session's request does not concern this
    /// one.
    func reportRejection(_ token: AccessToken?, isSoft: Bool) {
        guard let token, token == self.token else { return }
        rejection.yield(isSoft)
    }

    var token: AccessToken? {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
