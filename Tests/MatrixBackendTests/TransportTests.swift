import Foundation
import Testing

@testable import MatrixBackend

/// HTTP as URLSession does it, against servers that do not keep to it.
@Suite(.timeLimit(.minutes(1))) struct TransportTests {
    private let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

    private func ask(
        _ steps: [ScriptedServer.Step], _ change: (inout MatrixRequest) -> Void = { _ in }
    ) async throws -> MatrixResponse {
        let server = try ScriptedServer(steps)
        defer { server.stop() }
        let transport = URLSessionTransport()
        defer { transport.close() }
        var request = MatrixRequest(.get, server.url.appending(path: "x"), token: AccessToken("secret"))
        change(&request)
        return try await transport.send(request)
    }

    @Test func anAnswerComesWithStatusHeadersAndBody() async throws {
        let answer = try await ask([
            .write("HTTP/1.1 429 Slow down\r\nRetry-After: 7\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        ])
        #expect(answer.status == 429)
        #expect(answer.headers["retry-after"] == "7")
        #expect(answer.body == Data("{}".utf8))
    }

    @Test func anAnswerThatBreaksOffIsNone() async throws {
        await #expect(throws: TransportError.self) {
            _ = try await ask([.write(head + "Content-Length: 100\r\n\r\n{\"half\":")])
        }
    }

    @Test func aConnectionThatClosesWithoutAWordIsNoAnswer() async throws {
        await #expect(throws: TransportError.self) { _ = try await ask([]) }
    }

    @Test func silenceEnds() async throws {
        await #expect(throws: TransportError.timedOut) {
            _ = try await ask([.write(head), .hang]) { $0.timeout = .milliseconds(300) }
        }
    }

    @Test func aBodyThatNeverEndsIsLeft() async throws {
        let server = try ScriptedServer([
            .write(head + "Connection: close\r\n\r\n"), .repeat(String(repeating: "x", count: 1 << 16), .max),
        ])
        defer { server.stop() }
        let transport = URLSessionTransport()
        defer { transport.close() }
        var request = MatrixRequest(.get, server.url.appending(path: "x"))
        request.limit = 1 << 20
        await #expect(throws: TransportError.tooLarge(limit: 1 << 20)) { _ = try await transport.send(request) }
        var ends = server.ends.makeAsyncIterator()
        #expect(await ends.next() ?? 0 > 1 << 20, "the connection is not left open")
    }

    @Test func aCancelledRequestEnds() async throws {
        let task = Task { try await ask([.write(head), .hang]) }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
    }

    @Test func noRedirectionIsFollowedUnasked() async throws {
        let other = try ScriptedServer([.write(head + "Content-Length: 2\r\nConnection: close\r\n\r\n{}")])
        defer { other.stop() }
        let move = "HTTP/1.1 302 Found\r\nLocation: \(other.url)/y\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        let stayed = try await ask([.write(move)])
        #expect(stayed.status == 302)
        #expect(other.count == 0, "the other server was not asked")
        let followed = try await ask([.write(move)]) { $0.followsRedirects = true }
        #expect(followed.status == 200)
    }

    @Test func aServerThatIsNotThereIsUnreachable() async throws {
        let server = try ScriptedServer([])
        server.stop()
        let transport = URLSessionTransport()
        defer { transport.close() }
        await #expect(throws: TransportError.self) {
            _ = try await transport.send(MatrixRequest(.get, server.url.appending(path: "x")))
        }
    }

    @Test func aBodyMayGoToAFile() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "parlance-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let answer = try await ask([.write(head + "Content-Length: 5\r\nConnection: close\r\n\r\nbytes")]) {
            $0.destination = .file(file)
        }
        #expect(answer.body.isEmpty)
        #expect(try Data(contentsOf: file) == Data("bytes".utf8))
    }
}
