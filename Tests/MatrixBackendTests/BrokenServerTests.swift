import Foundation
import Synchronization
import Testing

@testable import MatrixBackend

/// Truncated and invalid responses: each throws an error, and the next request is unaffected.
@Suite(.timeLimit(.minutes(10))) struct BrokenServerTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    private static let chunked = head + "Transfer-Encoding: chunked\r\n\r\n"
    /// 200,000 zeros, compressed with gzip.
    private static let packed = """
        H4sIAAAAAAACA+3BMQEAAADCoPVPbQZ/oAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
        AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
        AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACA1wB7WOBcQA0DAA==
        """

    /// Each case: a script, and the error if only one is acceptable.
    private static let servers: [(name: String, steps: [ScriptedServer.Step], error: TransportError?)] = [
        ("without a word", [], nil),
        ("within the first line", [.write("HTTP/1.")], nil),
        ("after the first line", [.write("HTTP/1.1 200 OK\r\n")], nil),
        ("within the head", [.write(head + "Content-Len")], nil),
        ("before the end of the head", [.write(head + "Content-Length: 100\r\n")], nil),
        ("after the head", [.write(head + "Content-Length: 100\r\n\r\n")], nil),
        ("within the body", [.write(head + "Content-Length: 100\r\n\r\n{\"half\":")], nil),
        ("broken off in the head", [.write(head + "Content-Len"), .reset], nil),
        ("broken off in the body", [.write(head + "Content-Length: 100\r\n\r\n{"), .reset], nil),
        ("noise", [.bytes([0, 255, 1, 22, 3, 1, 2, 128, 10, 13])], nil),
        ("noise before the head", [.write("x\n" + head + "\r\n{}")], nil),
        ("another protocol", [.write("SSH-2.0-OpenSSH_9.2\r\n")], nil),
        ("a length that is none", [.write(head + "Content-Length: -5\r\n\r\n{}")], nil),
        (
            "a length beyond numbers", [.write(head + "Content-Length: 99999999999999999999\r\n\r\n{}")],
            .tooLarge(limit: 10_000)
        ),
        ("no chunk", [.write(chunked + "zz\r\n{}\r\n0\r\n\r\n")], nil),
        ("half a chunk", [.write(chunked + "5\r\n{}")], nil),
        ("no last chunk", [.write(chunked + "2\r\n{}\r\n")], nil),
        ("a chunk beyond numbers", [.write(chunked + "FFFFFFFFFFFFFFFFFF\r\n{}")], nil),
        ("a packing that is none", [.write(head + "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nnoise")], nil),
        ("a head without end", [.write(head), .repeat("X-Line: of many\r\n", .max)], nil),
        ("a line without end", [.write(head + "X-Line: "), .repeat("of many words ", .max)], nil),
        ("silence", [.hang], .timedOut),
        ("silence in the head", [.write(head), .hang], .timedOut),
        ("silence in the body", [.write(head + "Content-Length: 100\r\n\r\n{"), .hang], .timedOut),
        ("slow bytes", [.drip(head + String(repeating: "X: y\r\n", count: 1000), 5)], .timedOut),
        ("a body beyond the limit", [.write(head + "Content-Length: 200000000\r\n\r\n")], .tooLarge(limit: 10_000)),
        (
            "a body beyond the limit that does not say so",
            [.write(head + "\r\n"), .repeat(String(repeating: "x", count: 1 << 16), .max)], .tooLarge(limit: 10_000)
        ),
        (
            "a body that is beyond the limit when it is unpacked",
            [
                .write(head + "Content-Encoding: gzip\r\nConnection: close\r\n\r\n"),
                .bytes(Array(Data(base64Encoded: packed) ?? Data())),
            ], .tooLarge(limit: 10_000)
        ),
    ]

    @Test(arguments: servers.map(\.name)) func brokenResponseIsAnErrorAndTheNextRequestSucceeds(_ name: String)
        async throws
    {
        let (_, steps, error) = try #require(Self.servers.first { $0.name == name })
        let server = try ScriptedServer(steps)
        let good = try ScriptedServer([.write(Self.head + "Content-Length: 2\r\n\r\n{}")])
        defer {
            server.stop()
            good.stop()
        }
        let transport = CurlTransport()
        var request = MatrixRequest(.get, server.url.appending(path: "x"), token: AccessToken("secret"))
        request.limit = 10_000
        request.timeout = .milliseconds(error == .timedOut ? 300 : 20_000)
        do {
            let response = try await transport.send(request)
            Issue.record("status \(response.status) and \(response.body.count) bytes")
        } catch let thrown as TransportError {
            if let error { #expect(thrown == error) }
            #expect(!"\(thrown)".contains("127.0.0.1") && !"\(thrown)".contains("secret"))
            guard error == nil else { return }
            guard case .unreachable = MatrixError(thrown) else {
                return #expect(thrown == .tooLarge(limit: 256 << 10), "the head")
            }
        }
        #expect(try await transport.send(MatrixRequest(.get, good.url.appending(path: "x"))).status == 200)
    }

    @Test("A connection that is not made in time is no response that comes too late")
    func connectionTimeout() async throws {
        // It never answers the TLS handshake.
        let server = try ScriptedServer([.hang])
        defer { server.stop() }
        let address = server.url.absoluteString.replacing("http:", with: "https:")
        var request = MatrixRequest(.get, try #require(URL(string: address)).appending(path: "x"))
        request.connectTimeout = .milliseconds(300)
        await #expect(throws: TransportError.unreachable(reason: "no connection in time")) {
            _ = try await CurlTransport().send(request)
        }
    }

    @Test func transferTimesOutOnlyWhenIdle() async throws {
        let server = try ScriptedServer([.write(Self.head + "Content-Length: 100\r\n\r\n{"), .hang])
        defer { server.stop() }
        var request = MatrixRequest(.get, server.url.appending(path: "x"))
        request.timeout = .seconds(3600)
        request.idleTimeout = .seconds(1)
        await #expect(throws: TransportError.timedOut) { _ = try await CurlTransport().send(request) }
    }

    @Test("A long poll does not wake its thread while the server delays the response.")
    func longPollSleeps() async throws {
        let server = try ScriptedServer([.hang])
        defer { server.stop() }
        var request = MatrixRequest(.get, server.url.appending(path: "x"))
        request.timeout = .seconds(3600)
        request.idleTimeout = .seconds(90)
        let transport = CurlTransport()
        let polling = Task { try await transport.send(request) }
        var rested = false
        for _ in 0..<20 where !rested {
            let before = transport.loop.waitCount.load(ordering: .relaxed)
            // Checks that are made every second would be seen.
            try await Task.sleep(for: .seconds(2.5))
            rested = before > 0 && transport.loop.waitCount.load(ordering: .relaxed) == before
        }
        #expect(rested)
        polling.cancel()
        await #expect(throws: CancellationError.self) { _ = try await polling.value }
    }

    @Test("A transfer is idle once no data have come for the longest time, and not before its request is sent.")
    func idleCheck() {
        let start = SuspendingClock.now
        var check = IdleCheck(limit: .seconds(60), at: start)
        /// Looks when it is time, and returns whether the transfer is idle.
        func look(at count: Int?) -> Bool { check.isIdle(at: check.next) { count } }
        #expect(!check.isIdle(at: start + .seconds(29)) { fatalError("it is not time to look") })
        // It waits for a connection.
        for _ in 0..<5 { #expect(!look(at: nil)) }
        for count in 1...5 { #expect(!look(at: count)) }
        #expect(!look(at: 5), "for half of the time")
        #expect(look(at: 5))
        #expect(check.next == start + .seconds(30 * 13))
    }
}
