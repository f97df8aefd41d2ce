import ChatCore
import ChatOutbox
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Synchronization
import Testing

@testable import MatrixBackend

/// A message with several files is sent as one event for each.
@Suite(.timeLimit(.minutes(10))) struct MultipleFilesTests {
    private let room = RoomID("!room:example.org")
    private let folder = TemporaryFolder()

    /// - Parameter rejected: transaction IDs that the server rejects.
    private func start(rejecting rejected: [String] = []) async throws -> (FakeHomeserver, MatrixBackend) {
        let server = FakeHomeserver { request in
            let transaction = request.url.lastPathComponent
            guard request.method == .put, !rejected.contains(transaction) else { return nil }
            return ["event_id": .string("$" + transaction)]
        }
        let (backend, _) = try await server.start(in: folder)
        server.sync([
            "next_batch": "s1",
            "rooms": ["join": [room.rawValue: ["timeline": ["events": [Events.text("$1", "Hello")]]]]],
        ])
        await backend.waitForRoom(room)
        return (server, backend)
    }

    private func send(_ backend: MatrixBackend) async throws {
        let files = ["a", "b", "c"].map { MediaReference(uri: "mxc://x/\($0)", name: $0, type: "image/png") }
        try await backend.send(
            WrittenMessage("Look", kind: .image, files: files, replyTo: MessageID("$1")), as: TransactionID("t"),
            to: room)
    }

    private func close(_ backend: MatrixBackend) async {
        await backend.close()
        await backend.store.close()
    }

    @Test func filesAreSeparateMessagesThatCanBeDeleted() async throws {
        let (server, backend) = try await start()
        try await send(backend)
        await backend.sendingEnds(in: room)
        let shown = await backend.displayed(in: room) { $0.count == 4 }.dropFirst()
        #expect(shown.map { $0.attachments.map(\.name) } == [["a"], ["b"], ["c"]])
        #expect(shown.map(\.text) == ["Look", "", ""] && shown.map(\.replyTo) == [MessageID("$1"), nil, nil])
        for message in shown { try await backend.delete(message.id, in: room) }
        await backend.sendingEnds(in: room)
        for event in ["$t", "$t.1", "$t.2"] {
            #expect(server.paths.contains { $0.contains("/redact/\(event)/") }, "\(event)")
        }
        await close(backend)
    }

    @Test func filesSentBeforeARejectedOneCanBeDeleted() async throws {
        let (server, backend) = try await start(rejecting: ["t.1"])
        try await send(backend)
        let shown = await backend.displayed(in: room) { $0.contains { $0.delivery == .failed } }
        #expect(shown.filter { $0.delivery == .failed }.map { $0.attachments.map(\.name) } == [["b"]])
        try await backend.delete(LocalEchoes.id(of: TransactionID("t")), in: room)
        for transaction in ["t.2", "t.1"] { try await backend.discard(TransactionID(transaction), in: room) }
        await backend.sendingEnds(in: room)
        #expect(server.paths.contains { $0.contains("/redact/$t/") })
        #expect(!server.paths.contains { $0.hasSuffix("/t.2") })
        await close(backend)
    }
}
