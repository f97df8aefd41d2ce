import Foundation
import Synchronization

@testable import MatrixBackend

/// Answers by what a test says, and keeps what it was asked.
final class FakeTransport: MatrixTransport {
    private let asked = Mutex<[MatrixRequest]>([])
    private let answer: @Sendable (MatrixRequest) throws -> MatrixResponse

    init(_ answer: @escaping @Sendable (MatrixRequest) throws -> MatrixResponse) {
        self.answer = answer
    }

    /// The same answer to everything.
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
