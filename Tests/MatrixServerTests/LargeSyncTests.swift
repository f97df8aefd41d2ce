import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

/// An account whose sync exceeds the maximum response size.
@Suite(.timeLimit(.minutes(10))) struct LargeSyncTests {
    @Test(arguments: [true, false]) func oversizedSyncIsSplit(_ sliding: Bool) async throws {
        let ann = try await MatrixUser.make("ann", sliding: sliding)
        await ann.backend.close()
        let content: JSONValue = ["msgtype": "m.text", "body": .string(String(repeating: "x", count: 2000))]
        for number in 1...12 {
            let room = try await ann.client.createRoom(
                RoomRequest(name: "Room \(number)", isEncrypted: false), named: "Room \(number)")
            for place in 1...12 {
                _ = try await ann.client.send("m.room.message", content, to: room, transaction: "\(number).\(place)")
            }
        }
        let folder = TemporaryFolder()
        let store = try await ChatStore.open(in: folder.path("store"))
        let backend = try await MatrixBackend.start(
            over: store, server: ann.server, session: ann.session,
            transport: NarrowTransport(transport: ann.transport, most: 150_000))
        for await rooms in backend.roomSummaries() where rooms.count == 12 { break }
        while !backend.syncStatus.hasCaughtUp { try await Task.sleep(for: .milliseconds(20)) }
        await backend.close()
        await store.close()
        await ann.close()
    }
}

/// Rejects long sync responses.
private struct NarrowTransport: MatrixTransport {
    let transport: CurlTransport
    let most: Int

    func send(_ request: MatrixRequest) async throws -> MatrixResponse {
        let response = try await transport.send(request)
        guard !request.url.path.hasSuffix("/sync") || response.body.count <= most else {
            throw TransportError.tooLarge(limit: most)
        }
        return response
    }
}
