import ChatCore
import ChatStore
import Foundation
import ToolSupport

/// Sends random sequences of messages, events, redactions, read markers and rule changes to a store, and compares its
/// counts of unread messages and mentions with a full count. Each sequence is a room.
struct UnreadRun {
    private static let rooms = 500
    private static let rounds = 6
    private static let ownUserID = MemberID("@me:a")

    let count: Int
    let seed: UInt64

    func run() async throws -> Bool {
        print("\(count) sequences, seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var done = 0
        var others = 0
        while done < count {
            let rooms = min(Self.rooms, count - done)
            others += try await simulate(rooms, &random)
            done += rooms
        }
        SoakReport(name: "unread-counts", value: done - others, unit: "sequences", target: done).print()
        return others == 0
    }

    /// - Returns: The number of rooms whose counts were ever wrong.
    private func simulate(_ count: Int, _ random: inout SeededGenerator) async throws -> Int {
        let folder = SoakFolder()
        defer { folder.remove() }
        let store = try await ChatStore.open(in: folder.url)
        var oracles = (0..<count).map { _ in UnreadOracle() }
        var wrong: Set<Int> = []
        for _ in 0..<Self.rounds {
            let batches = oracles.indices.map { index in
                var batch = RoomBatch(id: RoomID("!\(index)"), createdAt: Date())
                batch.members = [Member(id: Self.ownUserID, displayName: "Me", kind: .own)]
                oracles[index].extend(&batch, by: Self.ownUserID, &random)
                return batch
            }
            _ = try await store.apply(SyncBatch(rooms: batches))
            for summary in try await store.roomSummaries() {
                guard let index = Int(summary.id.rawValue.dropFirst()) else { continue }
                let (counted, expected) = ([summary.unreadCount, summary.mentionCount], oracles[index].counts)
                guard counted != expected, wrong.insert(index).inserted else { continue }
                print("a room has \(counted) unread messages and mentions instead of \(expected)")
            }
        }
        await store.close()
        return wrong.count
    }
}

/// A room as its user sees it; counts are computed from scratch each time.
private struct UnreadOracle {
    /// The notification rule for messages from then on.
    private enum Rule: CaseIterable {
        case all, mentions, nothing

        func notificationLevel(isMention: Bool) -> NotificationLevel {
            switch self {
            case .all: isMention ? .mention : .unread
            case .mentions: isMention ? .mention : .none
            case .nothing: .none
            }
        }
    }

    private struct SentMessage {
        var isOwn: Bool
        var isEvent: Bool
        var notificationLevel: NotificationLevel
    }

    private var rule = Rule.all
    private var messages: [SentMessage] = []
    private var deleted: Set<Int> = []
    private var read = -1

    /// The numbers of unread messages and of mentions among them.
    var counts: [Int] {
        let unread = messages.indices.filter {
            $0 > read && !messages[$0].isOwn && !messages[$0].isEvent && !deleted.contains($0)
        }
        return [
            unread.count { messages[$0].notificationLevel != .none },
            unread.count { messages[$0].notificationLevel == .mention },
        ]
    }

    /// Adds messages, some of them repeated, redactions, and perhaps a read marker at any message, at none or backward.
    mutating func extend(_ batch: inout RoomBatch, by ownUserID: MemberID, _ random: inout SeededGenerator) {
        let previousCount = messages.count
        if Int.random(in: 0..<4, using: &random) == 0 { rule = Rule.allCases.randomElement(using: &random) ?? .all }
        for _ in 0..<Int.random(in: 0..<5, using: &random) {
            let isMention = Int.random(in: 0..<4, using: &random) == 0
            messages.append(
                SentMessage(
                    isOwn: Int.random(in: 0..<4, using: &random) == 0,
                    isEvent: Int.random(in: 0..<5, using: &random) == 0,
                    notificationLevel: rule.notificationLevel(isMention: isMention)))
        }
        // Joining the room marks earlier messages as read.
        read = max(read, messages.lastIndex { $0.isOwn && $0.isEvent } ?? -1)
        let start = max(0, previousCount - Int.random(in: 0..<3, using: &random))
        for number in start..<messages.count { batch.events.append(timelineEvent(number, by: ownUserID, &random)) }
        guard !messages.isEmpty else { return }
        for _ in 0..<Int.random(in: 0..<2, using: &random) {
            let number = Int.random(in: 0..<messages.count, using: &random)
            if !messages[number].isEvent { deleted.insert(number) }
            batch.events.append(
                .change(
                    MessageChange(
                        id: "$d\(number)", target: MessageID("$\(number)"), sender: MemberID("@ann:a"), at: Date(),
                        kind: .deletion)))
        }
        guard Int.random(in: 0..<3, using: &random) == 0 else { return }
        let readIndex = Int.random(in: 0..<messages.count + 2, using: &random)
        batch.fullyReadMarkers = [MessageID("$\(readIndex < messages.count ? "\(readIndex)" : "unknown")")]
        if readIndex < messages.count { read = max(read, readIndex) }
    }

    private mutating func timelineEvent(_ number: Int, by ownUserID: MemberID, _ random: inout SeededGenerator)
        -> TimelineEvent
    {
        let sender = messages[number].isOwn ? ownUserID : MemberID("@ann:a")
        let sentAt = Date(timeIntervalSince1970: Double(number))
        let id = MessageID("$\(number)")
        guard !messages[number].isEvent else {
            return .message(
                NewMessage(id: id, sender: sender, event: RoomEvent(.joined, subject: sender), sentAt: sentAt))
        }
        var message = NewMessage(id: id, sender: sender, text: "x", sentAt: sentAt)
        message.notificationLevel = messages[number].notificationLevel
        // Some messages are redacted before they are first synced.
        guard Int.random(in: 0..<10, using: &random) == 0 else { return .message(message) }
        deleted.insert(number)
        return .deleted(message)
    }
}
