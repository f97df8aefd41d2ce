import ChatCore
import ChatStore
import Foundation

/// Opens and uses databases that something has damaged. Each either opens or says why not, in which case the file is
/// as it was and can be set aside; nothing crashes, and calls fail with ``ChatError`` alone.
struct DamageRun {
    let count: Int
    let seed: UInt64

    func run() async throws -> Bool {
        print("\(count) damaged databases, seed \(seed)")
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("parlance-damage-\(UUID().uuidString)", isDirectory: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let intact = try await makeIntact(in: folder)
        var random = SeededGenerator(seed: seed)
        var refused = 0
        var failures = 0
        for number in 1...max(count, 1) {
            let copy = folder.appendingPathComponent("copy-\(number)", isDirectory: true)
            let damage = Damage.random(using: &random)
            do {
                try FileManager.default.copyItem(at: intact.randomElement(using: &random) ?? intact[0], to: copy)
                try damage.apply(to: copy)
                if try await open(copy) == false { refused += 1 }
            } catch {
                failures += 1
                print("database \(number) of seed \(seed), \(damage): \(error)")
            }
            try? FileManager.default.removeItem(at: copy)
        }
        print("\(count) damaged databases: \(refused) refused with a reason, \(failures) failures")
        SoakReport(name: "store-damage", value: count - failures, unit: "databases", target: count).print()
        return failures == 0
    }

    /// One folder as an orderly close leaves it, and one as a kill does, with its log.
    private func makeIntact(in folder: URL) async throws -> [URL] {
        let killed = folder.appendingPathComponent("killed", isDirectory: true)
        let closed = folder.appendingPathComponent("closed", isDirectory: true)
        let store = try await ChatStore.open(in: closed)
        for room in SoakSequence.rooms {
            try await store.createRoom(
                NewRoom(
                    room: Room(id: room, name: "Room \(room)", kind: .group), members: [SoakSequence.own],
                    createdAt: Date()))
            for number in 1...203 { try await SoakSequence(room: room).write(number, to: store) }
        }
        try FileManager.default.copyItem(at: closed, to: killed)
        await store.close()
        return [closed, killed]
    }

    /// - Returns: whether it opened.
    private func open(_ folder: URL) async throws -> Bool {
        let database = folder.appendingPathComponent("chat.sqlite")
        let before = try Data(contentsOf: database)
        let store: ChatStore
        do {
            store = try await ChatStore.open(in: folder)
        } catch is StoreOpeningError {
            guard try Data(contentsOf: database) == before else { throw SoakFailure("the file was changed") }
            let aside = try ChatStore.setAside(at: folder)
            guard try Data(contentsOf: aside.appendingPathComponent("chat.sqlite")) == before else {
                throw SoakFailure("setting aside changed the file")
            }
            try FileManager.default.removeItem(at: aside)
            await (try ChatStore.open(in: folder)).close()
            return false
        }
        await use(store)
        await store.close()
        return true
    }

    /// Reads and writes all there is. What fails may fail, but only as a call of the store does.
    private func use(_ store: ChatStore) async {
        _ = try? await store.roomSummaries()
        for room in SoakSequence.rooms {
            _ = try? await store.snapshot(of: room, limit: 500)
            _ = try? await store.draft(in: room)
            _ = try? await store.members(of: room)
            let number = (try? await SoakSequence(room: room).lastWrite(in: store)) ?? 203
            try? await SoakSequence(room: room).write(number + 1, to: store)
            _ = try? await store.markRead(MessageID("\(room)-200"), in: room)
            _ = try? await store.delete(MessageID("\(room)-200"), in: room, by: SoakSequence.own.id)
        }
        try? await store.removeRoom(SoakSequence.rooms[0])
        _ = try? await store.integrityProblems()
    }
}
