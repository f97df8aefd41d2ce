public import Foundation

/// Carries one request to a server and its answer back.
public protocol MatrixTransport: Sendable {
    /// - Throws: ``TransportError``, `CancellationError`, or ``ChatCore/ChatError`` if a file of this computer, from
    ///   which or to which it goes, fails. An answer with any status is an answer.
    func send(_ request: MatrixRequest) async throws -> MatrixResponse
}

/// A request, as far as a transport needs to know it.
public struct MatrixRequest: Sendable {
    public enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
    }

    public enum Body: Sendable, Equatable {
        case none
        case json(Data)
        case file(URL, type: String)
    }

    /// Where the body of the answer goes.
    public enum Destination: Sendable, Equatable {
        case memory
        /// A file that is made, or emptied. What an error leaves there is of no use.
        case file(URL)
    }

    public var method: Method
    public var url: URL
    public var token: AccessToken?
    public var body = Body.none
    public var destination = Destination.memory
    /// From sending to the end of the answer: slow bytes do not extend it.
    public var timeout = Duration.seconds(30)
    /// The time a connection may take to come about, with its encryption.
    public var connectTimeout = Duration.seconds(20)
    /// The longest silence, in whole seconds; nil if only ``timeout`` counts, as where a server lets one wait.
    public var idleTimeout: Duration?
    /// The most bytes that the body of an answer may have, once unpacked.
    public var limit = MatrixLimits.responseBytes
    /// Whether a redirection is followed, to another server without the token and never from TLS to none. Otherwise it
    /// is the answer.
    public var followsRedirects = false
    /// Whether it must not happen twice: it goes over a connection of its own, as libcurl sends again by itself what a
    /// kept one lost.
    var isOnce = false
    /// Told of the part of a file that is sent, or else of an answer that has come if it tells its length, from 0 to 1;
    /// from any thread, in steps of a hundredth.
    public var progress: (@Sendable (Double) -> Void)?

    public init(_ method: Method, _ url: URL, token: AccessToken? = nil) {
        self.method = method
        self.url = url
        self.token = token
    }
}

/// What a server answered.
public struct MatrixResponse: Sendable, Equatable {
    public var status: Int
    /// By names in lower case.
    public var headers: [String: String]
    public var body: Data

    public init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// Why no answer came.
public enum TransportError: Error, Equatable, Sendable {
    /// No connection, a name that is not found, an answer that broke off or is none.
    case unreachable(reason: String)
    /// The server does not prove to be who it should be: nothing was sent to it.
    case untrusted(CertificateProblem)
    case timedOut
    /// The answer is longer than the request allows; it was not read to its end.
    case tooLarge(limit: Int)
}

/// Opens an account. It is in no description of itself, and so in no log.
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

/// Sizes beyond which nothing is taken from a server, or given to it.
public enum MatrixLimits {
    /// Bytes of JSON in one answer.
    public static let responseBytes = 32 << 20
    /// Bytes of the content of one event: the whole event may have 65,536 (specification, size limits), and the
    /// server adds to it.
    public static let contentBytes = 60_000
    /// Bytes of a file that is fetched.
    public static let mediaBytes = 100 << 20
}
