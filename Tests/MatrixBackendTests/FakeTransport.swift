import Foundation
import Synchronization

@testable import MatrixBackend

/// Responds with what a test provides and records the requests.
final class FakeTransport: MatrixTransport {
    private let asked = Mutex<[MatrixRequest]>([])
    private let answer: @Sendable (MatrixRequest) throws -> MatrixResponse

    init(_ answer: @escaping @Sendable (MatrixRequest) throws -> MatrixResponse) {
        self.answer = answer
    }

    /// Responds to every request alike.
    convenience init(_ status: Int, _ body: String = "{}", headers: [String: String] = [:]) {
        self.init { _ in MatrixResponse(status: status, headers: headers, body: Data(body.utf8)) }
    }

    var requests: [MatrixRequest] { asked.withLock { $0 } }

    func send(_ request: MatrixRequest) async throws -> MatrixResponse {
        asked.withLock { $0.append(request) }
        return try answer(request)
    }

    var client: MatrixClient {
        MatrixClient(server: URL(string: "https://example.org")!, token: AccessToken("secret"), transport: self)
    }
}
