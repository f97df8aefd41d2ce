import ChatCore
import ChatStore
import Foundation
import Glibc
import SoakSupport

/// Writes to two rooms at once without end, and prints `ROOM NUMBER` for each write that was acknowledged.
/// Goes on where the store says that the last writer was.
struct SoakWriter {
    let folder: URL

    func run() async throws {
        let store = try await ChatStore.open(in: folder)
        let rooms = SoakSequence.rooms.map { id in
            NewRoom(
                room: Room(id: id, name: "Room \(id)", kind: .group), members: [SoakSequence.ownMember],
                createdAt: Date())
        }
        _ = try await store.createRooms(rooms, once: "soak")
        ParentPipe.send("ready 0")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for room in SoakSequence.rooms {
                group.addTask {
                    let sequence = SoakSequence(room: room)
                    var number = try await sequence.lastWrite(in: store)
                    while true {
                        number += 1
                        try await sequence.write(number, to: store)
                        ParentPipe.send("\(room) \(number)")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

}
