import Foundation
import Synchronization

/// An account's access token and the address of its server, which change when the user signs in again.
final class Credential: Sendable {
    /// The server's statement that it does not know a token.
    struct Rejection: Sendable {
        let token: AccessToken
        let isSoft: Bool
    }

    private let current: Mutex<(server: URL, token: AccessToken?)>
    /// Reports that the server has rejected the current token in any request. For one observer; by the time it handles a
    /// rejection, another token may be current.
    let rejections: AsyncStream<Rejection>
    private let rejection: AsyncStream<Rejection>.Continuation

    init(_ token: AccessToken?, at server: URL) {
        current = Mutex((Self.base(server), token))
        (rejections, rejection) = AsyncStream.makeStream(of: Rejection.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Ignores tokens other than the current one: a late response to an earlier session's request does not concern this
    /// one.
    func reportRejection(_ token: AccessToken?, isSoft: Bool) {
        guard let token, token == self.token else { return }
        rejection.yield(Rejection(token: token, isSoft: isSoft))
    }

    var token: AccessToken? {
        get { current.withLock { $0.token } }
        set { current.withLock { $0.token = newValue } }
    }

    /// The base URL, without a trailing slash.
    var server: URL { current.withLock { $0.server } }

    /// Both at once: a token must not be sent to another server than its own.
    var session: (server: URL, token: AccessToken?) { current.withLock { $0 } }

    /// Changes the address of the server. If it is another one, there is no token until the next session begins.
    func move(to server: URL) {
        let server = Self.base(server)
        current.withLock { if $0.server != server { $0 = (server, nil) } }
    }

    private static func base(_ server: URL) -> URL {
        let text = server.absoluteString
        return text.hasSuffix("/") ? URL(string: String(text.dropLast())) ?? server : server
    }
}
