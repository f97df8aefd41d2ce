import ChatCore
import ChatStore
import Foundation
import SeededRandom
import SoakSupport

/// Tells a store random sequences of messages, deletions and read marks, and compares the unread counts with a count
/// of all messages. Each sequence is a room's.
///
/// What is counted is what the store counts: the messages of others behind the mark. There are no push rules.
struct UnreadRun {
    private static let rooms = 500
    private static let rounds = 6
    private static let own = MemberID("@me:a")

    let count: Int
    let seed: UInt64

    func run() async throws -> Bool {
        print("\(count) sequences, seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var done = 0
        var others = 0
        while done < count {
            let rooms = min(Self.rooms, count - done)
            others += try await tell(rooms, &random)
            done += rooms
        }
        SoakReport(name: "unread-counts", value: done - others, unit: "sequences", target: done).print()
        return others == 0
    }

    /// - Returns: in how many rooms it was ever counted otherwise.
    private func tell(_ count: Int, _ random: inout SeededGenerator) async throws -> Int {
        let folder = SoakFolder()
        defer { folder.remove() }
        let store = try await ChatStore.open(in: folder.url)
        var oracles = (0..<count).map { _ in UnreadOracle() }
        var wrong: Set<Int> = []
        for _ in 0..<Self.rounds {
            let batches = oracles.indices.map { place in
                var batch = RoomBatch(id: RoomID("!\(place)"), createdAt: Date())
                batch.members = [Member(id: Self.own, displayName: "Me", kind: .own)]
                oracles[place].extend(&batch, by: Self.own, &random)
                return batch
            }
            _ = try await store.apply(SyncBatch(rooms: batches))
            for summary in try await store.roomSummaries() {
                guard let place = Int(summary.id.rawValue.dropFirst()) else { continue }
                let expected = oracles[place].unread
                guard summary.unreadCount != expected, wrong.insert(place).inserted else { continue }
                print("a room has \(summary.unreadCount) unread messages instead of \(expected)")
            }
        }
        await store.close()
        return wrong.count
    }
}

/// A room as its user sees it, counted from the beginning each time.
private struct UnreadOracle {
    private var isOwn: [Bool] = []
    private var deleted: Set<Int> = []
    private var read = -1

    var unread: Int { isOwn.indices.count { $0 > read && !isOwn[$0] && !deleted.contains($0) } }

    /// Some messages, some of them told again; some deletions; perhaps a mark, at any message, at none or backwards.
    mutating func extend(_ batch: inout RoomBatch, by own: MemberID, _ random: inout SeededGenerator) {
        let known = isOwn.count
        for _ in 0..<Int.random(in: 0..<5, using: &random) {
            isOwn.append(Int.random(in: 0..<4, using: &random) == 0)
        }
        let start = max(0, known - Int.random(in: 0..<3, using: &random))
        for number in start..<isOwn.count {
            let message = NewMessage(
                id: MessageID("$\(number)"), sender: isOwn[number] ? own : MemberID("@ann:a"), text: "x",
                sentAt: Date(timeIntervalSince1970: Double(number)))
            batch.events.append(.message(message))
        }
        guard !isOwn.isEmpty else { return }
        for _ in 0..<Int.random(in: 0..<2, using: &random) {
            let number = Int.random(in: 0..<isOwn.count, using: &random)
            deleted.insert(number)
            batch.events.append(
                .change(
                    MessageChange(
                        id: "$d\(number)", target: MessageID("$\(number)"), sender: MemberID("@ann:a"), at: Date(),
                        kind: .deletion)))
        }
        guard Int.random(in: 0..<3, using: &random) == 0 else { return }
        let mark = Int.random(in: 0..<isOwn.count + 2, using: &random)
        batch.readUpTo = MessageID("$\(mark < isOwn.count ? "\(mark)" : "unknown")")
        if mark < isOwn.count { read = max(read, mark) }
    }
}
