import Foundation
import JSONReading
import Synchronization

@testable import MatrixBackend

/// Responds at once with what a test provides; `/sync` requests wait until the test provides a response.
final class FakeHomeserver: MatrixTransport {
    private let asked = Mutex<[MatrixRequest]>([])
    private let respond: @Sendable (MatrixRequest) -> JSONValue?
    private let syncs: AsyncStream<JSONValue>
    private let queued: AsyncStream<JSONValue>.Continuation
    private let held = Mutex<String?>(nil)
    private let delayed = Mutex<String?>(nil)
    /// Counts of syncs provided, returned and processed: the client's next request shows that it has processed a
    /// response.
    private let counts = Mutex((queued: 0, answered: 0, consumed: 0))

    /// - Parameter respond: returns the response body, or `nil` for `M_NOT_FOUND`.
    init(_ respond: @escaping @Sendable (MatrixRequest) -> JSONValue?) {
        self.respond = respond
        (syncs, queued) = AsyncStream.makeStream(of: JSONValue.self)
    }

    /// The requests received, except syncs.
    var requests: [MatrixRequest] { asked.withLock { $0 } }
    var paths: [String] { requests.map(\.url.path) }

    /// Withholds the responses to requests whose path contains this; `nil` gives them.
    func hold(_ part: String?) { held.withLock { $0 = part } }

    /// Delays the responses to requests whose path contains this, which say what was so when the requests came; `nil`
    /// gives them.
    func delay(_ part: String?) { delayed.withLock { $0 = part } }

    /// Makes the server return a sync. The body of a plain one is also that of a sliding one (``sliding(_:)``).
    func sync(_ body: JSONValue) {
        counts.withLock { $0.queued += 1 }
        queued.yield(body)
    }

    /// How many syncs were provided, and how many of them the client has processed.
    var syncCounts: (provided: Int, processed: Int) { counts.withLock { ($0.queued, $0.consumed) } }

    /// Waits for a request whose path ends with this suffix.
    func receives(_ suffix: String) async throws {
        while !paths.contains(where: { $0.hasSuffix(suffix) }) { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// Waits until every provided sync is processed and the account is online.
    func waitUntilConsumed() async throws {
        while counts.withLock({ $0.consumed < $0.queued }) { try await Task.sleep(for: .milliseconds(5)) }
    }

    func send(_ request: MatrixRequest) async throws -> MatrixResponse {
        if request.url.path.hasSuffix("/sync") {
            counts.withLock { $0.consumed = $0.answered }
            for await body in syncs {
                counts.withLock { $0.answered += 1 }
                return try Self.response(request.method == .post ? Self.sliding(body) : body)
            }
            throw CancellationError()
        }
        asked.withLock { $0.append(request) }
        while let part = held.withLock({ $0 }), request.url.path.contains(part) {
            try await Task.sleep(for: .milliseconds(5))
        }
        let response = try Self.response(respond(request) ?? ["errcode": "M_NOT_FOUND", "status": 404])
        while let part = delayed.withLock({ $0 }), request.url.path.contains(part) {
            try await Task.sleep(for: .milliseconds(5))
        }
        guard case .file(let file) = request.destination, response.status == 200 else { return response }
        try response.body.write(to: file)
        return MatrixResponse(status: response.status, body: Data())
    }

    /// A `status` in the body sets the HTTP status.
    private static func response(_ body: JSONValue) throws -> MatrixResponse {
        MatrixResponse(status: body["status"]?.integer.map { Int($0) } ?? 200, body: try body.encoded())
    }
}
