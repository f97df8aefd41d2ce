public import Foundation

/// Sends requests to a server.
public protocol MatrixTransport: Sendable {
    /// Sends a request and returns the response, whatever its status.
    /// - Throws: ``TransportError``, `CancellationError`, or ``ChatCore/ChatError`` if the local file to send or to
    ///   write fails.
    func send(_ request: MatrixRequest) async throws -> MatrixResponse
}

/// A request as a transport sees it.
public struct MatrixRequest: Sendable {
    public enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case delete = "DELETE"
    }

    public enum Body: Sendable, Equatable {
        case none
        case json(Data)
        case file(URL, type: String)
    }

    /// Where the response's body goes.
    public enum Destination: Sendable, Equatable {
        case memory
        /// A file that is created or truncated. After an error its content is undefined.
        case file(URL)
    }

    public var method: Method
    public var url: URL
    public var token: AccessToken?
    public var body = Body.none
    public var destination = Destination.memory
    /// The time until the end of the response, however steadily data arrive.
    public var timeout = Duration.seconds(30)
    /// The time for connecting, including the TLS handshake.
    public var connectTimeout = Duration.seconds(20)
    /// The longest time without data, which may be exceeded by half; `nil` for none besides ``timeout``.
    public var idleTimeout: Duration?
    /// The maximum size of the decoded response body in bytes.
    public var limit = MatrixLimits.responseBytes
    /// Whether redirects are followed: to another server without the token, and never from HTTPS to HTTP. Otherwise a
    /// redirect is returned as the response.
    public var followsRedirects = false
    /// Whether the request is not idempotent: it gets a new connection, because libcurl resends requests that a reused
    /// one lost.
    var isOnce = false
    /// Called with the fraction sent of an uploaded file, or else received of a response with known length, from 0 to
    /// 1; on any thread, in steps of 0.01.
    public var progress: (@Sendable (Double) -> Void)?

    public init(_ method: Method, _ url: URL, token: AccessToken? = nil) {
        self.method = method
        self.url = url
        self.token = token
    }
}

/// An HTTP response.
public struct MatrixResponse: Sendable, Equatable {
    public var status: Int
    /// By lowercase name.
    public var headers: [String: String]
    public var body: Data

    public init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// Why there is no response.
public enum TransportError: Error, Equatable, Sendable {
    /// No connection, at all or in time, an unresolved host name, or an incomplete or invalid response.
    case unreachable(reason: String)
    /// The server's certificate is not trusted, so nothing was sent.
    case untrusted(CertificateProblem)
    /// The request was sent, but the response did not come in time.
    case timedOut
    /// The response exceeds the request's limit and was not read completely.
    case tooLarge(limit: Int)
}

/// An access token. Its descriptions and mirror omit the value, so it never appears in logs.
public struct AccessToken: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    public let value: String

    public init(_ value: String) {
        self.value = value
    }

    public var description: String { "AccessToken" }
    public var debugDescription: String { "AccessToken" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Limits on what is accepted from a server or sent to it, in bytes.
public enum MatrixLimits {
    /// The maximum size of a JSON response.
    public static let responseBytes = 32 << 20
    /// The maximum size of an event's content: a whole event may have 65,536 bytes (specification, size limits), of
    /// which the server needs some.
    public static let contentBytes = 60_000
    /// The maximum size of an event's content before encryption, which makes it a third longer and adds an envelope.
    public static let sealedContentBytes = 44_000
    /// The maximum size of downloaded media.
    public static let mediaBytes = 100 << 20
}
