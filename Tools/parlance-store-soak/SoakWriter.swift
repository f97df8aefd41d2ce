import ChatCore
import ChatStore
import Foundation
import Glibc
import ToolSupport

/// Writes to two rooms concurrently until it is killed, and prints `ROOM NUMBER` for each acknowledged write. Continues
/// where the last writer stopped, according to the store.
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
