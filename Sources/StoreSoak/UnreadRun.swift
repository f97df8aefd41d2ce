import ChatCore
import ChatStore
import Foundation
import SeededRandom
import SoakSupport

/// Tells a store random sequences of messages, events, deletions, read marks and changes of what is counted, and
/// compares the counts of unread messages and of mentions with a count of all messages. Each sequence is a room's.
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
                let (counted, expected) = ([summary.unreadCount, summary.mentionCount], oracles[place].counts)
                guard counted != expected, wrong.insert(place).inserted else { continue }
                print("a room has \(counted) unread messages and mentions instead of \(expected)")
            }
        }
        await store.close()
        return wrong.count
    }
}

/// A room as its user sees it, counted from the beginning each time.
private struct UnreadOracle {
    /// What the user is told of, from then on.
    private enum Rule: CaseIterable {
        case all, mentions, nothing

        func attention(isMention: Bool) -> MessageAttention {
            switch self {
            case .all: isMention ? .mention : .unread
            case .mentions: isMention ? .mention : .none
            case .nothing: .none
            }
        }
    }

    private struct Said {
        var isOwn: Bool
        var isEvent: Bool
        var attention: MessageAttention
    }

    private var rule = Rule.all
    private var said: [Said] = []
    private var deleted: Set<Int> = []
    private var read = -1

    /// Unread messages, and mentions among them.
    var counts: [Int] {
        let unread = said.indices.filter {
            $0 > read && !said[$0].isOwn && !said[$0].isEvent && !deleted.contains($0)
        }
        return [unread.count { said[$0].attention != .none }, unread.count { said[$0].attention == .mention }]
    }

    /// Some messages, some of them told again; some deletions; perhaps a mark, at any message, at none or backwards.
    mutating func extend(_ batch: inout RoomBatch, by own: MemberID, _ random: inout SeededGenerator) {
        let known = said.count
        if Int.random(in: 0..<4, using: &random) == 0 { rule = Rule.allCases.randomElement(using: &random) ?? .all }
        for _ in 0..<Int.random(in: 0..<5, using: &random) {
            let isMention = Int.random(in: 0..<4, using: &random) == 0
            said.append(
                Said(
                    isOwn: Int.random(in: 0..<4, using: &random) == 0,
                    isEvent: Int.random(in: 0..<5, using: &random) == 0,
                    attention: rule.attention(isMention: isMention)))
        }
        // Who enters has read what was said before.
        read = max(read, said.lastIndex { $0.isOwn && $0.isEvent } ?? -1)
        let start = max(0, known - Int.random(in: 0..<3, using: &random))
        for number in start..<said.count { batch.events.append(told(number, by: own, &random)) }
        guard !said.isEmpty else { return }
        for _ in 0..<Int.random(in: 0..<2, using: &random) {
            let number = Int.random(in: 0..<said.count, using: &random)
            if !said[number].isEvent { deleted.insert(number) }
            batch.events.append(
                .change(
                    MessageChange(
                        id: "$d\(number)", target: MessageID("$\(number)"), sender: MemberID("@ann:a"), at: Date(),
                        kind: .deletion)))
        }
        guard Int.random(in: 0..<3, using: &random) == 0 else { return }
        let mark = Int.random(in: 0..<said.count + 2, using: &random)
        batch.readUpTo = [MessageID("$\(mark < said.count ? "\(mark)" : "unknown")")]
        if mark < said.count { read = max(read, mark) }
    }

    private mutating func told(_ number: Int, by own: MemberID, _ random: inout SeededGenerator) -> TimelineEvent {
        let sender = said[number].isOwn ? own : MemberID("@ann:a")
        let sentAt = Date(timeIntervalSince1970: Double(number))
        let id = MessageID("$\(number)")
        guard !said[number].isEvent else {
            return .message(
                NewMessage(id: id, sender: sender, event: RoomEvent(.joined, subject: sender), sentAt: sentAt))
        }
        var message = NewMessage(id: id, sender: sender, text: "x", sentAt: sentAt)
        message.attention = said[number].attention
        // Some are told when they are gone.
        guard Int.random(in: 0..<10, using: &random) == 0 else { return .message(message) }
        deleted.insert(number)
        return .deleted(message)
    }
}
