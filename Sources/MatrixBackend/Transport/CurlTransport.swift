public import Foundation

/// HTTP through libcurl: HTTP/2 where a server has it, connections kept and shared, TLS verified, proxies as the
/// environment names them (`https_proxy`, `no_proxy`) but to this computer; no cookies, no cache, no redirections that
/// were not asked for.
public final class CurlTransport: MatrixTransport {
    private let loop: CurlLoop
    private let certificates: URL?

    /// - Parameter certificates: a file of those that are trusted, in place of the system's.
    public init(certificates: URL? = nil) {
        self.certificates = certificates
        loop = CurlLoop()
        loop.start()
    }

    deinit { loop.stop() }

    /// Ends what is under way with an error. Nothing can be sent afterwards.
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
