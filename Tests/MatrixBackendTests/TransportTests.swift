import ChatCore
import Foundation
import JSONReading
import Synchronization
import Testing

@testable import MatrixBackend

/// HTTP through libcurl, with the settings of a Matrix client.
@Suite(.timeLimit(.minutes(10))) struct TransportTests {
    private let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

    private func exchange(
        _ steps: [ScriptedServer.Step], _ change: (inout MatrixRequest) -> Void = { _ in }
    ) async throws -> MatrixResponse {
        let server = try ScriptedServer(steps)
        defer { server.stop() }
        let transport = CurlTransport()
        defer { transport.close() }
        var request = MatrixRequest(.get, server.url.appending(path: "x"), token: AccessToken("secret"))
        change(&request)
        return try await transport.send(request)
    }

    @Test func responseHasStatusHeadersAndBody() async throws {
        let response = try await exchange([
            .write("HTTP/1.1 429 Slow down\r\nRetry-After: 7\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        ])
        #expect(response.status == 429)
        #expect(response.headers["retry-after"] == "7")
        #expect(response.body == Data("{}".utf8))
    }

    /// A server that reads a request on a reused connection and hangs up may have processed it; libcurl retries by
    /// itself unless configured otherwise.
    @Test(arguments: [(true, 1), (false, 2)]) func nonIdempotentRequestsAreSentOnce(_ isOnce: Bool, _ count: Int)
        async throws
    {
        let server = try ScriptedServer([.write(head + "Content-Length: 2\r\n\r\n{}"), .read(1000), .reset])
        defer { server.stop() }
        let transport = CurlTransport()
        defer { transport.close() }
        _ = try await transport.send(MatrixRequest(.get, server.url.appending(path: "x")))
        var request = MatrixRequest(.post, server.url.appending(path: "createRoom"))
        request.body = .json(Data(String(repeating: " ", count: 1000).utf8))
        request.isOnce = isOnce
        let response = try await transport.send(request)
        #expect(response.status == 200)
        #expect(server.received.components(separatedBy: "POST /createRoom").count - 1 == count)
    }

    @Test func endlessBodyIsAborted() async throws {
        let server = try ScriptedServer([
            .write(head + "Connection: close\r\n\r\n"), .repeat(String(repeating: "x", count: 1 << 16), .max),
        ])
        defer { server.stop() }
        let transport = CurlTransport()
        defer { transport.close() }
        var request = MatrixRequest(.get, server.url.appending(path: "x"))
        request.limit = 1 << 20
        await #expect(throws: TransportError.tooLarge(limit: 1 << 20)) { _ = try await transport.send(request) }
        var ends = server.ends.makeAsyncIterator()
        #expect(await ends.next() ?? 0 > 1 << 20, "the connection is not left open")
    }

    @Test func canceledRequestEnds() async throws {
        let task = Task { try await exchange([.write(head), .hang]) }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
    }

    @Test func redirectsAreOptInAndNeverReceiveTheToken() async throws {
        let other = try ScriptedServer([.write(head + "Content-Length: 2\r\nConnection: close\r\n\r\n{}")])
        defer { other.stop() }
        let move = "HTTP/1.1 302 Found\r\nLocation: \(other.url)/y\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        let stayed = try await exchange([.write(move)])
        #expect(stayed.status == 302)
        #expect(other.count == 0, "the other server was not asked")
        let followed = try await exchange([.write(move)]) { $0.followsRedirects = true }
        #expect(followed.status == 200 && followed.body == Data("{}".utf8))
        #expect(followed.headers["location"] == nil, "of what was on the way, nothing is in the answer")
        // A different port is a different origin.
        #expect(other.received.hasPrefix("GET /y ") && !other.received.contains("secret"))
    }

    @Test func redirectLoopsAreBounded() async throws {
        let move = "HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        await #expect(throws: TransportError.self) {
            _ = try await exchange([.write(move)]) { $0.followsRedirects = true }
        }
    }

    @Test func redirectsToFilesAreRejected() async throws {
        let move = "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n"
        await #expect(throws: TransportError.self) {
            _ = try await exchange([.write(move)]) { $0.followsRedirects = true }
        }
    }

    @Test func tokenIsAHeaderAndPathsAreUnchanged() async throws {
        let server = try ScriptedServer([.write(head + "Content-Length: 2\r\n\r\n{}")])
        defer { server.stop() }
        let transport = CurlTransport()
        let client = MatrixClient(server: server.url, token: AccessToken("secret"), transport: transport)
        _ = try await client.call(.put, ["client", "..", "a/b"], body: ["text": "é"])
        #expect(server.received.hasPrefix("PUT /_matrix/client/%2E%2E/a%2Fb HTTP/1.1\r\n"))
        #expect(server.received.contains("\r\nAuthorization: Bearer secret\r\n"))
        #expect(server.received.hasSuffix("\r\n\r\n{\"text\":\"é\"}"))
        for token in ["a\r\nX: y", "a b", "é"] {
            await #expect(throws: TransportError.self) {
                _ = try await transport.send(MatrixRequest(.get, server.url, token: AccessToken(token)))
            }
        }
    }

    @Test func missingServerIsUnreachable() async throws {
        let server = try ScriptedServer([])
        server.stop()
        let transport = CurlTransport()
        defer { transport.close() }
        await #expect(throws: TransportError.self) {
            _ = try await transport.send(MatrixRequest(.get, server.url.appending(path: "x")))
        }
    }

    @Test func bodyCanBeWrittenToAFile() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "parlance-\(UUID().uuidString)")
        // A leftover temporary file is harmless.
        defer { try? FileManager.default.removeItem(at: file) }
        let response = try await exchange([.write(head + "Content-Length: 5\r\nConnection: close\r\n\r\nbytes")]) {
            $0.destination = .file(file)
        }
        #expect(response.body.isEmpty)
        #expect(try Data(contentsOf: file) == Data("bytes".utf8))
    }

    @Test func uploadReportsProgress() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "parlance-\(UUID().uuidString)")
        // A leftover temporary file is harmless.
        defer { try? FileManager.default.removeItem(at: file) }
        let content = String(repeating: "content ", count: 100_000)
        try Data(content.utf8).write(to: file)
        let server = try ScriptedServer([
            .read(content.utf8.count), .write(head + "Content-Length: 2\r\nConnection: close\r\n\r\n{}"),
        ])
        defer { server.stop() }
        let told = Mutex<[Double]>([])
        let transport = CurlTransport()
        var request = MatrixRequest(.post, server.url.appending(path: "x"))
        request.body = .file(file, type: "text/plain\r\nX: y")
        request.progress = { part in told.withLock { $0.append(part) } }
        let response = try await transport.send(request)
        #expect(response.status == 200)
        #expect(server.received.hasPrefix("POST /x ") && server.received.hasSuffix("\r\n\r\n" + content))
        #expect(!server.received.contains("X: y"), "a type adds no line to the head")
        let parts = told.withLock { $0 }
        #expect(parts == parts.sorted() && parts.last == 1 && parts.count <= 101, "\(parts)")
    }

    @Test func downloadReportsProgress() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "parlance-\(UUID().uuidString)")
        // A leftover temporary file is harmless.
        defer { try? FileManager.default.removeItem(at: file) }
        let told = Mutex<[Double]>([])
        let chunk = String(repeating: "x", count: 1000)
        _ = try await exchange([.write(head + "Content-Length: 1000000\r\n\r\n"), .repeat(chunk, 1000)]) {
            $0.destination = .file(file)
            $0.progress = { part in told.withLock { $0.append(part) } }
        }
        let parts = told.withLock { $0 }
        #expect(parts == parts.sorted() && parts.last == 1 && parts.count <= 101, "\(parts)")
        #expect(try Data(contentsOf: file).count == 1_000_000)
    }

    @Test func errorResponseIsNotWrittenToTheFile() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "parlance-\(UUID().uuidString)")
        let response = try await exchange([
            .write("HTTP/1.1 404 No\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        ]) {
            $0.destination = .file(file)
        }
        #expect(response.status == 404 && response.body == Data("{}".utf8))
        #expect(!FileManager.default.fileExists(atPath: file.path))
        // An empty body creates an empty file.
        _ = try await exchange([.write(head + "Content-Length: 0\r\nConnection: close\r\n\r\n")]) {
            $0.destination = .file(file)
        }
        #expect(try Data(contentsOf: file).isEmpty)
        try FileManager.default.removeItem(at: file)
    }

    @Test func missingFilesAreReported() async throws {
        let gone = URL(fileURLWithPath: "/nowhere/at/all")
        await #expect(throws: ChatError.unreadableFile) {
            _ = try await exchange([]) { $0.body = .file(gone, type: "text/plain") }
        }
        await #expect(throws: ChatError.self) {
            _ = try await exchange([.write(head + "Content-Length: 2\r\n\r\n{}")]) { $0.destination = .file(gone) }
        }
    }

    @Test func concurrentRequestsFinishOrFailAndLeaveNothing() async throws {
        let good = try ScriptedServer([.write(head + "Content-Length: 2\r\nConnection: close\r\n\r\n{}")])
        let silent = try ScriptedServer([.hang])
        let transport = CurlTransport()
        let request = MatrixRequest(.get, good.url.appending(path: "x"))
        var waiting = MatrixRequest(.get, silent.url.appending(path: "x"))
        // A loaded machine may take longer than the usual timeout to cancel the request.
        waiting.timeout = .seconds(250)
        try await withThrowingTaskGroup(of: Void.self) { [waiting] group in
            for _ in 0..<60 {
                group.addTask {
                    let response = try await transport.send(request)
                    #expect(response.status == 200)
                }
                group.addTask {
                    let task = Task { try await transport.send(waiting) }
                    await Task.yield()
                    task.cancel()
                    await #expect(throws: CancellationError.self) { _ = try await task.value }
                }
            }
            try await group.waitForAll()
        }
        // Closing ends pending requests and rejects later ones.
        let late = Task { [waiting] in try await transport.send(waiting) }
        transport.close()
        await #expect(throws: TransportError.self) { _ = try await late.value }
        await #expect(throws: TransportError.unreachable(reason: "closed")) { _ = try await transport.send(request) }
        good.stop()
        silent.stop()
    }
}
