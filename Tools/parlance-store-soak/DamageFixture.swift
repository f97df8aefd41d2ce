import ChatCore
import ChatStore
import Composer
import Foundation

/// Stores to damage: one as an orderly close leaves it, and one with logs, as a kill leaves it.
struct DamageFixture {
    static let draftRooms = (1...20).map { RoomID("unsent-\($0)") }

    let folders: [URL]

    static func draft(_ number: Int, version: Int) -> SavedDraft {
        let text = "<draft \(number) of version \(version)>"
        return SavedDraft(data: Data((text + String(repeating: ".", count: number * 37)).utf8), preview: text)
    }

    static func request(_ number: Int) -> OutboxRequest {
        let text = "<request \(number)>" + String(repeating: ".", count: number * 29)
        return OutboxRequest(
            id: TransactionID("t\(number)"), room: draftRooms[number % draftRooms.count],
            action: .send(WrittenMessage(WrittenText(text))), queuedAt: Date(timeIntervalSince1970: 1_700_000_000))
    }

    init(in folder: URL) async throws {
        let killed = folder.appendingPathComponent("killed", isDirectory: true)
        let closed = folder.appendingPathComponent("closed", isDirectory: true)
        var store = try await ChatStore.open(in: closed)
        for room in SoakSequence.rooms + Self.draftRooms {
            try await store.createRoom(
                NewRoom(
                    room: Room(id: room, name: "Room \(room)", kind: .group), members: [SoakSequence.ownMember],
                    createdAt: Date()))
        }
        for room in SoakSequence.rooms {
            for number in 1...203 { try await SoakSequence(room: room).write(number, to: store) }
        }
        try await Self.writePending(version: 1, to: store)
        await store.close()
        // Leave some rows in the database, some in the log and some in both.
        store = try await ChatStore.open(in: closed)
        for number in 204...220 { try await SoakSequence(room: SoakSequence.rooms[0]).write(number, to: store) }
        try await Self.writePending(version: 2, to: store)
        try FileManager.default.copyItem(at: closed, to: killed)
        await store.close()
        folders = [closed, killed]
    }

    private static func writePending(version: Int, to store: ChatStore) async throws {
        for (number, room) in draftRooms.enumerated() where version == 1 || number % 2 == 0 {
            _ = try await store.saveDraft(draft(number, version: version), in: room)
        }
        for number in version * 20..<version * 20 + 20 {
            try await store.commit(OutboxChange(put: [request(number)]))
        }
    }
}
