import ChatCore
import ChatStore
import ToolSupport

/// Fetches chunks of a room's missing history like a backend: from either end of a gap, and around a jump target. A
/// token is the number of the event after it.
struct SyncFetch {
    /// The limit after which the gaps are considered endless.
    private static let maxFetches = 2000

    let log: SyncLog
    let store: ChatStore

    /// Fetches a random chunk.
    func fetch(_ random: inout SeededGenerator) async throws {
        let gaps = try await store.gaps(in: log.room)
        guard let gap = gaps.randomElement(using: &random) else { return }
        let size = Int.random(in: 1...8, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0...2: try await fill(gap, size: size, &random)
        case 3, 4: _ = try await follow(gap, size: size, &random)
        case 5...7: try await jump(into: gap, among: gaps, size: size, &random)
        default: break
        }
    }

    /// Fills all gaps, from both ends.
    func fetchRest(_ random: inout SeededGenerator) async throws {
        for _ in 0..<Self.maxFetches {
            guard let gap = try await store.gaps(in: log.room).randomElement(using: &random) else { return }
            let size = Int.random(in: 1...20, using: &random)
            if Bool.random(using: &random), try await follow(gap, size: size, &random) { continue }
            try await fill(gap, size: size, &random)
        }
        throw SoakFailure("its gaps do not end: \(try await store.gaps(in: log.room))")
    }

    /// Fills a gap from its newer end. A response may overlap the events after the gap, and may be repeated.
    private func fill(_ gap: TimelineGap, size: Int, _ random: inout SeededGenerator) async throws {
        guard let end = Int(gap.token) else { throw SoakFailure("a gap with the token “\(gap.token)”") }
        let start = max(0, end - size)
        let next = start == 0 ? nil : "\(start)"
        let known = try await countKnown(from: end, atMost: overlap(&random))
        let events = log.events(start..<end + known)
        for _ in 0...overlap(&random) / 2 {
            _ = try await store.fill(gap, in: log.room, with: events, next: next)
        }
    }

    /// Fills a gap from its older end, if its token is known.
    /// - Returns: Whether the chunk was inserted.
    private func follow(_ gap: TimelineGap, size: Int, _ random: inout SeededGenerator) async throws -> Bool {
        guard let token = gap.forward else { return false }
        guard let front = Int(token) else { throw SoakFailure("a gap with the token “\(token)”") }
        guard front < log.syncedCount else { return false }
        let end = min(front + size, log.syncedCount)
        let chunk = TimelineChunk(
            events: log.events(max(0, front - overlap(&random))..<end), newer: end < log.syncedCount ? "\(end)" : nil)
        var isPlaced = false
        for _ in 0...overlap(&random) / 2 {
            let outcome = try await store.insertChunk(chunk, in: gap, of: log.room, isContiguous: true)
            isPlaced = isPlaced || outcome != nil
        }
        return isPlaced
    }

    /// Returns the number of consecutive events that are stored as messages.
    private func countKnown(from number: Int, atMost limit: Int) async throws -> Int {
        for count in 0..<limit {
            if try await store.messages([SyncLog.id(number + count)], in: log.room).isEmpty { return count }
        }
        return limit
    }

    /// Returns by how many events a response overlaps known ones, mostly 0.
    private func overlap(_ random: inout SeededGenerator) -> Int {
        Int.random(in: 0..<4, using: &random) == 0 ? Int.random(in: 1...3, using: &random) : 0
    }

    /// Inserts the context of an event in or near a gap, possibly without messages, overlapping known events, or
    /// repeated.
    private func jump(
        into gap: TimelineGap, among gaps: [TimelineGap], size: Int, _ random: inout SeededGenerator
    ) async throws {
        guard log.syncedCount > 0, let end = Int(gap.token) else { return }
        let first = gaps.last { $0.position < gap.position }.flatMap { Int($0.token) } ?? 0
        let middle = Int.random(in: first < end ? first..<end : 0..<log.syncedCount, using: &random)
        let start = max(0, middle - Int.random(in: 0...size, using: &random))
        let stop = min(middle + 1 + Int.random(in: 0...size, using: &random), log.syncedCount)
        let chunk = TimelineChunk(
            events: log.events(start..<stop), older: start == 0 ? nil : "\(start)",
            newer: stop < log.syncedCount ? "\(stop)" : nil)
        for _ in 0...overlap(&random) / 2 {
            guard let gap = try await self.gap(around: (start + stop) / 2) else { return }
            _ = try await store.insertChunk(chunk, in: gap, of: log.room)
        }
    }

    /// Returns the newest gap around an event, as a backend finds it by timestamps.
    private func gap(around number: Int) async throws -> TimelineGap? {
        let messages = try await store.messages(in: log.room, before: .max, limit: 10_000).messages
        return try await store.gaps(in: log.room).last { gap in
            let behind = messages.first { $0.position >= gap.position }
            let front = messages.last { $0.position < gap.position }
            return SyncLog.number(of: behind?.id) ?? .max >= number && SyncLog.number(of: front?.id) ?? -1 <= number
        }
    }
}
