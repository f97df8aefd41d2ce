import MatrixBackend
import Synchronization

/// Counts what passes.
final class CountingTransport: MatrixTransport {
    private let transport = CurlTransport()
    private let counted = Mutex((requests: 0, bytes: 0))

    /// Requests that were answered, and the bytes of the answers' bodies once unpacked.
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
