public import Foundation

/// HTTP through libcurl: HTTP/2 where supported, reused connections, verified TLS, and the proxies of the environment
/// (`https_proxy`, `no_proxy`) except for this computer; no cookies, no cache, and redirects only on request.
public final class CurlTransport: MatrixTransport {
    let loop: CurlLoop
    private let certificates: URL?

    /// Creates a transport, whose thread starts with the first request.
    /// - Parameter certificates: A file of CA certificates to trust instead of the system's.
    public init(certificates: URL? = nil) {
        self.certificates = certificates
        loop = CurlLoop()
    }

    deinit { loop.stop() }

    /// Ends all transfers with an error. Later requests fail.
    public func close() { loop.stop() }

    public func send(_ request: MatrixRequest) async throws -> MatrixResponse {
        try Task.checkCancellation()
        let exchange = try CurlExchange(request, certificates: certificates)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { exchange.start(on: loop, $0) }
        } onCancel: {
            loop.cancel(exchange)
        }
    }
}
