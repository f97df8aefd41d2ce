import ChatCore
import ChatStore
import Foundation
import ToolSupport

/// Sends random histories to stores in syncs that are limited, empty, repeated and overlapping, fills the gaps from
/// both ends and from within, acknowledges changes before they are synced, sets read markers at known and unknown
/// events, and compares the result with the server's history. Each history is a room.
struct SyncRun {
    /// Histories per store, because creating a store takes as long as some histories.
    private static let rooms = 50

    let count: Int
    let seed: UInt64

    func run() async throws -> Bool {
        print("\(count) histories, seed \(seed)")
        var starts = stride(from: 0, to: count, by: Self.rooms).makeIterator()
        let equal = try await withThrowingTaskGroup(of: Int.self) { group in
            // As many stores at once as there are processors.
            for _ in 0..<ProcessInfo.processInfo.activeProcessorCount {
                if let start = starts.next() { group.addTask { try await sync(from: start) } }
            }
            var equal = 0
            for try await more in group {
                equal += more
                if let start = starts.next() { group.addTask { try await sync(from: start) } }
            }
            return equal
        }
        SoakReport(name: "sync-histories", value: equal, unit: "histories", target: count).print()
        return equal == count
    }

    /// Sends some histories to one store.
    /// - Returns: The number of histories that are stored correctly.
    private func sync(from start: Int) async throws -> Int {
        let folder = SoakFolder()
        defer { folder.remove() }
        let store = try await ChatStore.open(in: folder.url)
        var equal = 0
        for number in start..<min(start + Self.rooms, count) {
            // Each history can be reproduced individually.
            if try await isStored(in: RoomID("!\(number)"), of: store, seed: seed &+ UInt64(number)) { equal += 1 }
        }
        await store.close()
        return equal
    }

    /// Whether a history is stored correctly.
    private func isStored(in room: RoomID, of store: ChatStore, seed: UInt64) async throws -> Bool {
        var random = SeededGenerator(seed: seed)
        var log = SyncLog(room: room)
        do {
            try await sync(&log, to: store, &random)
        } catch let failure as SoakFailure {
            print("the history of seed \(seed): \(failure)")
            return false
        }
        let expected = log.timeline() + [Self.line(unread: log.unread, lastRead: log.lastRead)]
        let stored = try await timeline(of: store, log)
        guard stored != expected else { return true }
        print("the history of seed \(seed) is\n  \(expected)\nand kept as\n  \(stored)")
        return false
    }

    private static func line(unread: Int, lastRead: Int?) -> String {
        "\(unread) unread, read by the other up to \(lastRead.map(String.init) ?? "nothing")"
    }

    /// Returns the stored timeline in the format of ``SyncLog/timeline()``.
    private func timeline(of store: ChatStore, _ log: SyncLog) async throws -> [String] {
        var lines: [String] = []
        var lastRead: Int?
        for message in try await store.messages(in: log.room, before: .max, limit: 10_000).messages {
            if message.readReceipts.contains(where: { $0.member == SyncLog.bob }) {
                lastRead = SyncLog.number(of: message.id).flatMap(log.message)
            }
            // Skip redacted changes, which cannot be distinguished from redacted messages.
            guard log.isMessage(message.id) else { continue }
            let before =
                message.editedAt == nil ? [] : try await store.revisions(of: message.id, in: log.room).map(\.text)
            lines.append(
                SyncLog.line(
                    message.id, message.isDeleted ? nil : before + [message.text],
                    message.isDeleted
                        ? nil : MessageMedia(kind: message.kind, attachments: message.attachments),
                    hearts: message.reactions.count))
        }
        let unread = try await store.roomSummaries().first { $0.id == log.room }?.unreadCount ?? -1
        return lines + [Self.line(unread: unread, lastRead: lastRead)]
    }

    private func sync(_ log: inout SyncLog, to store: ChatStore, _ random: inout SeededGenerator) async throws {
        func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
        let room = log.room
        var first = batch([], gap: nil, in: room)
        first.members = [Member(id: SyncLog.ownUserID, displayName: "Me", kind: .own)]
        _ = try await store.apply(SyncBatch(rooms: [first]))
        for _ in 0..<2 + below(11) {
            for _ in 0..<below(25) {
                log.append(below)
                // Sometimes the response to an own change arrives before the sync, with a different clock.
                if below(4) == 0, let change = log.acknowledgement(ofLast: below(3)),
                    try await !store.messages([change.target], in: room).isEmpty
                {
                    _ = try await store.apply(change, in: room)
                }
            }
            let limit = below(12)
            // Sometimes start earlier: a server may repeat events.
            let from = max(0, log.syncedCount - (below(4) == 0 ? below(6) : 0))
            let start = max(from, log.count - limit)
            if start < log.count || below(2) == 0 {
                var batch = batch(
                    log.events(start..<log.count), gap: start > log.syncedCount ? "\(start)" : nil, in: room)
                for _ in 0..<below(3) where log.count > 0 { log.addReceipt(below, in: &batch) }
                for _ in 0...below(6) / 5 { _ = try await store.apply(SyncBatch(rooms: [batch])) }
                log.syncedCount = log.count
            }
            for _ in 0..<below(4) { try await SyncFetch(log: log, store: store).fetch(&random) }
        }
        _ = try await store.apply(
            SyncBatch(rooms: [batch(log.events(log.syncedCount..<log.count), gap: nil, in: room)]))
        log.syncedCount = log.count
        try await SyncFetch(log: log, store: store).fetchRest(&random)
    }

    private func batch(_ events: [TimelineEvent], gap: String?, in room: RoomID) -> RoomBatch {
        RoomBatch(id: room, name: "Room", createdAt: Date(), events: events, gap: gap)
    }
}
