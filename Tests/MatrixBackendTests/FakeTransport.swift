import Foundation
import JSONReading
import Synchronization

@testable import MatrixBackend

/// Responds with what a test provides and records the requests.
final class FakeTransport: MatrixTransport {
    private let asked = Mutex<[MatrixRequest]>([])
    private let respond: @Sendable (MatrixRequest) throws -> MatrixResponse
    private let pause: @Sendable (MatrixRequest) async throws -> Void

    /// - Parameter pause: awaited between a request and the response to it.
    init(
        pause: @escaping @Sendable (MatrixRequest) async throws -> Void = { _ in },
        _ respond: @escaping @Sendable (MatrixRequest) throws -> MatrixResponse
    ) {
        self.pause = pause
        self.respond = respond
    }

    /// Gives the same response to every request.
    convenience init(_ status: Int, _ body: String = "{}", headers: [String: String] = [:]) {
        self.init { _ in MatrixResponse(status: status, headers: headers, body: Data(body.utf8)) }
    }

    /// Responds with JSON, whose `status` is that of the response, and with 404 for `nil`.
    static func responding(
        pause: @escaping @Sendable (MatrixRequest) async throws -> Void = { _ in },
        _ respond: @escaping @Sendable (MatrixRequest) -> JSONValue?
    ) -> FakeTransport {
        FakeTransport(pause: pause) { request in
            let body = respond(request)
            return MatrixResponse(
                status: body == nil ? 404 : body?["status"]?.integer.map { Int($0) } ?? 200,
                body: try (body ?? ["errcode": "M_NOT_FOUND"]).encoded())
        }
    }

    var requests: [MatrixRequest] { asked.withLock { $0 } }

    func send(_ request: MatrixRequest) async throws -> MatrixResponse {
        asked.withLock { $0.append(request) }
        let response = try respond(request)
        try await pause(request)
        return response
    }

    var client: MatrixClient {
        MatrixClient(server: URL(string: "https://example.org")!, token: AccessToken("secret"), transport: self)
    }
}
