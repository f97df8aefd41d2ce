import Foundation
import JSONReading
import Synchronization
import Testing

@testable import MatrixBackend

/// Sliding sync requests.
@Suite(.timeLimit(.minutes(10))) struct SlidingSyncTests {
    private func last(of request: MatrixRequest) throws -> Int64? {
        guard case .json(let data) = request.body else { return nil }
        return try JSONValue(parsing: data)["lists"]?["all"]?["ranges"]?.array?.first?.array?.last?.integer
    }

    /// The most recent rooms come first, the others in chunks without waiting, then the long poll.
    @Test func roomsAreLoadedInChunks() async throws {
        let count = Mutex(0)
        let transport = FakeTransport { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return MatrixResponse(
                status: 200, body: Data(#"{"pos":"\#(number)/s:1","lists":{"all":{"count":250}}}"#.utf8))
        }
        var token: String?
        for _ in 0..<6 {
            // A new instance for each request simulates restarts.
            token = try await SlidingSync(client: transport.client).next(after: token, wait: .seconds(30)).token
        }
        let requests = transport.requests
        #expect(try requests.map { try last(of: $0) } == [19, 119, 219, 319, 99_999, 99_999])
        let queries = requests.map { $0.url.query() ?? "" }
        #expect(
            queries == [
                "timeout=0", "timeout=0&pos=1%2Fs%3A1", "timeout=0&pos=2%2Fs%3A1", "timeout=0&pos=3%2Fs%3A1",
                "timeout=30000&pos=4%2Fs%3A1", "timeout=30000&pos=5%2Fs%3A1",
            ])
    }

    /// A token without a count is sent unchanged; a server that returns no count has returned all rooms.
    @Test func unexpectedTokensFallBackToAllRooms() async throws {
        let transport = FakeTransport(200, #"{"pos":"x"}"#)
        let sync = SlidingSync(client: transport.client)
        #expect(try await sync.next(after: "odd", wait: .seconds(30)).token == "100000:x")
        #expect(try await sync.next(after: nil, wait: .seconds(30)).token == "100000:x")
        #expect(transport.requests.first?.url.query() == "timeout=30000&pos=odd")
    }
}
