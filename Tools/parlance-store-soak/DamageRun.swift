import ChatCore
import ChatStore
import Foundation
import ToolSupport

/// Opens and uses damaged databases. Each either opens, or fails with a reason while its files stay unchanged and can
/// be repaired. Nothing may crash, calls may throw ``ChatError`` only, and drafts and requests with intact pages must
/// not be lost.
struct DamageRun {
    /// The results of a run.
    private struct Tally {
        var rejected = 0
        var repaired = 0
        var retained = 0
        var failures = 0
    }

    let count: Int
    let seed: UInt64

    func run() async throws -> Bool {
        print("\(count) damaged databases, seed \(seed)")
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("parlance-damage-\(UUID().uuidString)", isDirectory: true)
        // A leftover temporary file does no harm.
        defer { try? FileManager.default.removeItem(at: folder) }
        let fixture = try await DamageFixture(in: folder)
        var random = SeededGenerator(seed: seed)
        var tally = Tally()
        for number in 1...max(count, 1) {
            let runFolder = folder.appendingPathComponent("copy-\(number)", isDirectory: true)
            let damage = Damage.random(using: &random)
            let intact = fixture.folders.randomElement(using: &random) ?? fixture.folders[0]
            do {
                try FileManager.default.createDirectory(at: runFolder, withIntermediateDirectories: true)
                let copy = runFolder.appendingPathComponent("store", isDirectory: true)
                try FileManager.default.copyItem(at: intact, to: copy)
                try damage.apply(to: copy)
                try await survive(copy, oracle: DamageOracle(intact: intact), &tally)
            } catch StoreOpeningError.newerSchema {
                // Rejected without changes: a damaged schema version cannot be distinguished from that of a newer
                // program.
                tally.rejected += 1
            } catch {
                tally.failures += 1
                print("database \(number) of seed \(seed), \(damage) in \(intact.lastPathComponent): \(error)")
            }
            try? FileManager.default.removeItem(at: runFolder)
        }
        print(
            "\(count) damaged databases: \(tally.rejected) refused with a reason, \(tally.repaired) repairs,",
            "\(tally.retained) drafts and requests with intact pages kept, \(tally.failures) failures")
        SoakReport(name: "store-damage", value: count - tally.failures, unit: "databases", target: count).print()
        return tally.failures == 0
    }

    private func survive(_ folder: URL, oracle: DamageOracle, _ tally: inout Tally) async throws {
        let drafts = oracle.drafts(in: folder)
        let requests = oracle.requests(in: folder)
        // Damage that is detected in use is repaired at the next start: three starts suffice for both files.
        for _ in 1...3 {
            let store = try await openOrRepair(folder, &tally)
            let isComplete = try await find(drafts, requests, in: store)
            if isComplete {
                await use(store)
                await store.close()
                tally.retained += drafts.count + requests.count
                return
            }
            await store.close()
        }
        throw SoakFailure("a draft or a request whose pages are intact is lost")
    }

    private func openOrRepair(_ folder: URL, _ tally: inout Tally) async throws -> ChatStore {
        let before = try contents(of: folder)
        do {
            return try await ChatStore.open(in: folder)
        } catch is StoreOpeningError {
            tally.rejected += 1
            guard try contents(of: folder) == before else { throw SoakFailure("the files were changed") }
            let repair = try ChatStore.repair(at: folder)
            guard try contents(of: repair.setAside) == before else { throw SoakFailure("the repair changed the files") }
            tally.repaired += 1
            return try await ChatStore.open(in: folder)
        }
    }

    /// Returns the contents of databases and logs, without empty logs, which SQLite creates even for reading.
    private func contents(of folder: URL) throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in ["chat.sqlite", "chat.sqlite-wal", "unsent.sqlite", "unsent.sqlite-wal"] {
            let bytes = try? Data(contentsOf: folder.appendingPathComponent(name))
            if let bytes, !bytes.isEmpty { contents[name] = bytes }
        }
        return contents
    }

    /// - Returns: Whether all were read; `false` on a ``ChatError``.
    private func find(
        _ drafts: [Int: SavedDraft], _ requests: [OutboxRequest], in store: ChatStore
    ) async throws -> Bool {
        do {
            let queued = try await store.outboxRequests()
            for request in requests where !queued.contains(request) {
                throw SoakFailure("\(request.id) is lost though its page is intact")
            }
            for (number, draft) in drafts {
                let found = try await store.draft(in: DamageFixture.draftRooms[number])
                guard found == draft else { throw SoakFailure("draft \(number) is lost though its page is intact") }
            }
            return true
        } catch is ChatError {
            return false
        }
    }

    /// Calls the store's methods, which may throw, because the store is damaged, but must not crash.
    private func use(_ store: ChatStore) async {
        _ = try? await store.roomSummaries()
        for room in SoakSequence.rooms {
            _ = try? await store.snapshot(of: room, limit: 500)
            _ = try? await store.draft(in: room)
            _ = try? await store.members(of: room)
            let number = (try? await SoakSequence(room: room).lastWrite(in: store)) ?? 220
            try? await SoakSequence(room: room).write(number + 1, to: store)
            _ = try? await store.markRead(MessageID("\(room)-200"), in: room)
            _ = try? await store.delete(MessageID("\(room)-200"), in: room, by: SoakSequence.ownMember.id)
        }
        _ = try? await store.search(SearchQuery(text: "message"))
        _ = try? await store.search(SearchQuery(text: "essag", matching: .substring))
        try? await store.removeRoom(SoakSequence.rooms[0])
        _ = try? await store.integrityProblems()
    }
}
