import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

/// Rooms that the user may have left in another client, while the user enters them here.
@Suite(.timeLimit(.minutes(10))) struct LeftRoomsTests {
    @Test(
        "A room that the server says was left stays if the user has entered it since the server was asked",
        arguments: [true, false])
    func roomEnteredMeanwhile(isEnteredMeanwhile: Bool) async throws {
        let (room, entered) = (AccountParts.room, EnteredRooms())
        let transport = FakeTransport.responding { request in
            // Between the server's response and its arrival.
            if isEnteredMeanwhile, request.url.path.contains("/m.room.member/") { entered.note(room) }
        } _: { request in
            request.url.path.hasSuffix("/joined_rooms") ? ["joined_rooms": []] : ["membership": "leave"]
        }
        let parts = try await AccountParts.make(transport.client)
        let left = parts.leftRooms(entered: entered)
        if !isEnteredMeanwhile { entered.note(room) }
        await left.noteDoubtful([room])
        await left.prune()
        #expect(transport.requests.count == 2)
        #expect(try await parts.store.hasRoom(room) == isEnteredMeanwhile)
        await parts.store.close()
    }
}
