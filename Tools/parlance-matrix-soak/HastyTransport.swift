import MatrixBackend

/// Shortens timeouts, so a dropped packet costs seconds instead of minutes of a long run.
struct HastyTransport: MatrixTransport {
    /// The maximum timeout of a request.
    static let timeout = Duration.seconds(8)

    let transport: CurlTransport

    func send(_ request: MatrixRequest) async throws -> MatrixResponse {
        var request = request
        request.timeout = min(request.timeout, Self.timeout)
        return try await transport.send(request)
    }
}
