import MatrixBackend
import Synchronization

/// Counts requests and response bytes.
final class CountingTransport: MatrixTransport {
    private let transport = CurlTransport()
    private let counted = Mutex((requests: 0, bytes: 0))

    /// The number of responses, and the decoded size of their bodies.
    var count: (requests: Int, bytes: Int) { counted.withLock { $0 } }

    func send(_ request: MatrixRequest) async throws -> MatrixResponse {
        let response = try await transport.send(request)
        counted.withLock { counted in
            counted.requests += 1
            counted.bytes += response.body.count
        }
        return response
    }
}
