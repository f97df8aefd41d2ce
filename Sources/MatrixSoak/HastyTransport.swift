import MatrixBackend

/// Gives up sooner than an application does: what a network swallowed costs seconds, not minutes, of a long run.
struct HastyTransport: MatrixTransport {
    /// Of a request, at most.
    static let timeout = Duration.seconds(8)

    let transport: CurlTransport

    func send(_ request: MatrixRequest) async throws -> MatrixResponse {
        var request = request
        request.timeout = min(request.timeout, Self.timeout)
        return try await transport.send(request)
    }
}
