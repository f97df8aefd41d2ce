import ChatCore
import ChatStore
import Foundation
import SeededRandom
import SoakSupport

/// Tells stores random histories in pieces that are cut, empty, repeated and overlapping, fills the gaps from both ends and
/// from within, acknowledges changes before they are told, marks as read what is and is not known, and compares what is
/// kept with what the server has.
struct SyncRun {
    let count: Int
    let seed: UInt64

    private let room = RoomID("!room")

    init(count: Int, seed: UInt64) {
        self.count = count
        self.seed = seed
    }

    func run() async throws -> Bool {
        print("\(count) histories, seed \(seed)")
        let folder = SoakFolder()
        defer { folder.remove() }
        var equal = 0
        for number in 0..<count {
            let store = try await ChatStore.open(in: folder.url.appendingPathComponent("\(number)"))
            // Each can be told again by itself.
            let own = seed &+ UInt64(number)
            var random = SeededGenerator(seed: own)
            var log = SyncLog()
            try await tell(&log, to: store, &random)
            let expected = log.timeline() + [Self.line(unread: log.unread, reader: log.reader)]
            let kept = try await timeline(of: store, log)
            if kept == expected {
                equal += 1
            } else {
                print("the history of seed \(own) is\n  \(expected)\nand kept as\n  \(kept)")
            }
            await store.close()
        }
        SoakReport(name: "sync-histories", value: equal, unit: "histories", target: count).print()
        return equal == count
    }

    private static func line(unread: Int, reader: Int?) -> String {
        "\(unread) unread, read by the other up to \(reader.map(String.init) ?? "nothing")"
    }

    /// What is kept, as ``SyncLog/timeline()`` writes it down.
    private func timeline(of store: ChatStore, _ log: SyncLog) async throws -> [String] {
        var lines: [String] = []
        var reader: Int?
        for message in try await store.messages(in: room, before: .max, limit: 10_000).messages {
            if message.readers.contains(where: { $0.member == SyncLog.bob }) {
                reader = SyncLog.number(of: message.id).flatMap(log.message)
            }
            // A change that was deleted before it was told cannot be told from a message.
            guard log.isMessage(message.id) else { continue }
            let before = message.isDeleted ? [] : try await store.revisions(of: message.id, in: room).map(\.text)
            lines.append(
                SyncLog.line(
                    message.id, message.isDeleted ? nil : before + [message.text],
                    message.isDeleted
                        ? nil : MessageContents(kind: message.kind, attachments: message.attachments),
                    hearts: message.reactions.count))
        }
        let unread = try await store.roomSummaries().first?.unreadCount ?? -1
        return lines + [Self.line(unread: unread, reader: reader)]
    }

    private func tell(_ log: inout SyncLog, to store: ChatStore, _ random: inout SeededGenerator) async throws {
        func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
        var first = batch([], gap: nil)
        first.members = [Member(id: SyncLog.own, displayName: "Me", kind: .own)]
        _ = try await store.apply(SyncBatch(rooms: [first]))
        for _ in 0..<12 {
            for _ in 0..<below(25) {
                log.append(below)
                // The answer to a change of one's own, before the sync; this computer's clock is another.
                if below(4) == 0, let change = log.acknowledgement(ofLast: below(3)),
                    try await !store.messages([change.target], in: room).isEmpty
                {
                    _ = try await store.apply(change, in: room)
                }
            }
            let limit = below(12)
            // From the last time on, or from before it: a server may tell things again.
            let from = max(0, log.told - (below(4) == 0 ? below(6) : 0))
            let start = max(from, log.count - limit)
            if start < log.count || below(2) == 0 {
                var batch = batch(log.events(start..<log.count), gap: start > log.told ? "\(start)" : nil)
                for _ in 0..<below(3) where log.count > 0 { log.mark(below, in: &batch) }
                for _ in 0...below(6) / 5 { _ = try await store.apply(SyncBatch(rooms: [batch])) }
                log.told = log.count
            }
            try await fetch(log, into: store, &random)
        }
        _ = try await store.apply(SyncBatch(rooms: [batch(log.events(log.told..<log.count), gap: nil)]))
        log.told = log.count
        while let gap = try await store.gaps(in: room).first { try await fill(gap, of: store, log, size: 7) }
    }

    /// A piece of what is missing, from somewhere.
    private func fetch(
        _ log: SyncLog, into store: ChatStore, _ random: inout SeededGenerator
    ) async throws {
        guard let gap = try await store.gaps(in: room).randomElement(using: &random) else { return }
        let size = Int.random(in: 1...8, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1: try await fill(gap, of: store, log, size: size)
        case 2:
            guard let start = gap.forward.flatMap({ Int($0) }), start < log.told else { return }
            let end = min(start + size, log.told)
            let stretch = HistoryStretch(events: log.events(start..<end), newer: end < log.told ? "\(end)" : nil)
            _ = try await store.place(stretch, in: gap, of: room, followsOn: true)
        case 3:
            let start = Int.random(in: 0..<max(log.told, 1), using: &random)
            let end = min(start + size, log.told)
            guard let gap = try await self.gap(around: start, in: store) else { return }
            let stretch = HistoryStretch(
                events: log.events(start..<end), older: start == 0 ? nil : "\(start)",
                newer: end < log.told ? "\(end)" : nil)
            _ = try await store.place(stretch, in: gap, of: room)
        default: break
        }
    }

    /// The newest gap between a message from before and one from after, as a backend chooses it by their times.
    private func gap(around number: Int, in store: ChatStore) async throws -> TimelineGap? {
        for gap in try await store.gaps(in: room).reversed() {
            let behind = try await store.messages(in: room, after: gap.position - 1, limit: 1).messages.first
            let front = try await store.messages(in: room, before: gap.position, limit: 1).messages.last
            guard SyncLog.number(of: behind?.id) ?? .max > number, SyncLog.number(of: front?.id) ?? -1 < number else {
                continue
            }
            return gap
        }
        return nil
    }

    private func batch(_ events: [TimelineEvent], gap: String?) -> RoomBatch {
        RoomBatch(id: room, name: "Room", createdAt: Date(), events: events, gap: gap)
    }

    /// Tokens are the numbers of the events that they are before.
    private func fill(_ gap: TimelineGap, of store: ChatStore, _ log: SyncLog, size: Int) async throws {
        guard let end = Int(gap.token) else { throw SoakFailure("a gap with the token “\(gap.token)”") }
        let start = max(0, end - size)
        let next = start == 0 ? nil : "\(start)"
        _ = try await store.fill(gap, in: room, with: log.events(start..<end), next: next)
    }
}
