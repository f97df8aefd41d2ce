import ChatCore
import ChatStore
import Foundation
import ToolSupport

/// Kills a writer repeatedly at seeded random points, and checks each time that the store has everything it
/// acknowledged.
struct KillRun {
    /// The number of kills before a new folder is used, so the creation of a store is killed as well.
    private static let killsPerFolder = 25

    let count: Int
    let seed: UInt64

    func run() async throws -> Bool {
        print("\(count) kills, seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var acknowledged = 0
        var done = 0
        while done < count {
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("parlance-soak-\(UUID().uuidString)", isDirectory: true)
            var expectation = Expectation()
            for _ in 0..<min(Self.killsPerFolder, count - done) {
                do {
                    acknowledged += try killOnce(in: folder, &expectation, &random)
                    try await expectation.check(folder)
                } catch {
                    print("kill \(done + 1) of seed \(seed): \(error)\nleft as it was found: \(folder.path)")
                    SoakReport(name: "store-kills", value: done, unit: "kills", target: count).print()
                    return false
                }
                done += 1
            }
            try FileManager.default.removeItem(at: folder)
        }
        print("\(done) kills, \(acknowledged) acknowledged writes: none lost, doubled or out of order")
        SoakReport(name: "store-kills", value: done, unit: "kills", target: count).print()
        return true
    }

    /// - Returns: The number of acknowledged writes.
    private func killOnce(
        in folder: URL, _ expectation: inout Expectation, _ random: inout SeededGenerator
    ) throws -> Int {
        var writer = try ChildProcess(arguments: ["writer", folder.path])
        // One in eight is killed while it opens the store.
        let lines = Int.random(in: 0..<8, using: &random) == 0 ? 0 : Int.random(in: 1...40, using: &random)
        var receivedLines = 0
        while receivedLines < lines, let line = writer.nextLine() {
            try expectation.hear(line)
            receivedLines += 1
        }
        Self.spin(.microseconds(Int.random(in: 0...(lines == 0 ? 40_000 : 1500), using: &random)))
        let (rest, wasKilled) = writer.killAndDrain()
        for line in rest { try expectation.hear(line) }
        guard wasKilled else {
            throw SoakFailure("the writer ended by itself after \(receivedLines + rest.count) lines")
        }
        return receivedLines + rest.count
    }

    /// Busy-waits, because sleeping is not precise enough.
    private static func spin(_ duration: Duration) {
        let end = ContinuousClock.now + duration
        while ContinuousClock.now < end {}
    }
}

/// The writes that were acknowledged in a folder.
private struct Expectation {
    private var isReady = false
    private var last: [RoomID: Int] = [:]

    mutating func hear(_ line: String) throws {
        let words = line.split(separator: " ")
        guard words.count == 2, let number = Int(words[1]) else { throw SoakFailure("the writer said “\(line)”") }
        isReady = true
        guard words[0] != "ready" else { return }
        let room = RoomID(String(words[0]))
        // A write in progress at the last kill may have been committed without being acknowledged.
        guard number > last[room] ?? 0, number <= (last[room] ?? 0) + 2 else {
            throw SoakFailure("write \(number) of room \(room) follows \(last[room] ?? 0)")
        }
        last[room] = number
    }

    /// Checks that the store has all acknowledged writes, and at most one more, which was in progress.
    mutating func check(_ folder: URL) async throws {
        let store = try await ChatStore.open(in: folder)
        let problems = try await store.integrityProblems()
        guard problems.isEmpty else { throw SoakFailure(problems.joined(separator: "; ")) }
        let rooms = Set(try await store.roomSummaries().map(\.id))
        guard isReady || !rooms.isEmpty else {
            await store.close()
            return
        }
        guard rooms == Set(SoakSequence.rooms) else { throw SoakFailure("rooms are missing: \(rooms)") }
        for room in SoakSequence.rooms {
            let acknowledged = last[room] ?? 0
            let found = try await SoakSequence(room: room).lastWrite(in: store)
            guard (acknowledged...acknowledged + 1).contains(found) else {
                throw SoakFailure("room \(room) ends with write \(found), but \(acknowledged) was acknowledged")
            }
            last[room] = found
        }
        await store.close()
    }
}
