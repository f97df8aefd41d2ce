import ChatCore
public import Foundation
import JSONReading

/// The client-server API of one homeserver, signed in or not. It has no state but the token and the server's address,
/// and does not retry.
public struct MatrixClient: Sendable {
    /// The base URL, without a trailing slash.
    public var server: URL { credential.server }
    let credential: Credential
    let transport: any MatrixTransport

    public var token: AccessToken? { credential.token }

    /// Creates a client.
    /// - Parameter server: The URL that ``Discovery`` found.
    public init(server: URL, token: AccessToken? = nil, transport: any MatrixTransport) {
        credential = Credential(token, at: server)
        self.transport = transport
    }

    /// Returns a client of the same server with another token.
    public func with(token: AccessToken?) -> MatrixClient {
        MatrixClient(server: server, token: token, transport: transport)
    }

    /// Sends a request to an endpoint below `/_matrix/`.
    ///
    /// - Parameters:
    ///   - path: The path's components, not percent-encoded.
    ///   - query: Names and values, not percent-encoded.
    ///   - timeout: The time until the end of the response.
    ///   - idleTimeout: The longest time without data; `nil` for none besides `timeout`.
    ///   - isOnce: Whether the request is not idempotent and must not be sent again.
    /// - Throws: ``MatrixError``, or `CancellationError`.
    func call(
        _ method: MatrixRequest.Method, _ path: [String], query: [(String, String)] = [], body: JSONValue? = nil,
        timeout: Duration = .seconds(30), idleTimeout: Duration? = nil, isOnce: Bool = false
    ) async throws -> JSONValue {
        var request = request(method, path, query: query)
        request.timeout = timeout
        request.idleTimeout = idleTimeout
        request.isOnce = isOnce
        if let body { request.body = .json(try body.encoded()) }
        return try await jsonResponse(to: request)
    }

    func request(_ method: MatrixRequest.Method, _ path: [String], query: [(String, String)] = []) -> MatrixRequest {
        let (server, token) = credential.session
        var text = server.absoluteString + "/_matrix/" + path.map(Self.encoded).joined(separator: "/")
        if !query.isEmpty {
            text += "?" + query.map { Self.encoded($0.0) + "=" + Self.encoded($0.1) }.joined(separator: "&")
        }
        // Cannot fail: everything is percent-encoded.
        return MatrixRequest(method, URL(string: text) ?? server, token: token)
    }

    /// Returns the JSON object of a successful response.
    func jsonResponse(to request: MatrixRequest) async throws -> JSONValue {
        try Self.object(in: await response(to: request))
    }

    static func object(in response: MatrixResponse) throws(MatrixError) -> JSONValue {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: response.body, emptiesTooDeep: true)
        } catch {
            if case .tooLong(let limit) = error { throw .tooLarge(limit: limit) }
            throw .malformed(reason: "\(error)")
        }
        guard value.object != nil else { throw .malformed(reason: "the answer is no object") }
        return value
    }

    func response(to request: MatrixRequest) async throws -> MatrixResponse {
        let response = try await anyResponse(to: request)
        if let error = failure(in: response, to: request) { throw error }
        return response
    }

    /// Returns the error that the response reports, or `nil` for a successful one.
    func failure(in response: MatrixResponse, to request: MatrixRequest) -> MatrixError? {
        guard !(200..<300).contains(response.status) else { return nil }
        let error = MatrixError(response)
        if case .signedOut(let isSoft) = error { credential.reportRejection(request.token, isSoft: isSoft) }
        return error
    }

    /// Returns the response with any status.
    func anyResponse(to request: MatrixRequest) async throws -> MatrixResponse {
        do {
            return try await transport.send(request)
        } catch let error as TransportError {
            throw MatrixError(error)
        } catch is CancellationError {
            throw CancellationError()
        } catch let error as ChatError {
            throw error
        } catch {
            throw MatrixError.unreachable(reason: "\(type(of: error))")
        }
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    /// `.` and `..` would be resolved as path segments.
    private static func encoded(_ text: String) -> String {
        if !text.isEmpty, text.allSatisfy({ $0 == "." }) { return String(repeating: "%2E", count: text.count) }
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}

extension JSONValue {
    /// The value as JSON with sorted keys, or `nil` if it has a number that JSON cannot represent.
    var text: String? { (try? encoded()).map { String(decoding: $0, as: UTF8.self) } }

    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }
}
