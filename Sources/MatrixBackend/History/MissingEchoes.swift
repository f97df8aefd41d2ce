import ChatCore
import ChatStore
import Foundation

/// Searches gaps for the user's own messages, which a limited sync may omit: without a search they would be shown
/// as pending until the user scrolls to the gap.
struct MissingEchoes: Sendable {
    /// History chunks that are requested per room after each sync.
    private static let maxChunks = 20
    /// Seconds by which the server's clock may be behind the local one.
    private static let clockSkew: TimeInterval = 3600

    let store: ChatStore
    let unsent: UnsentMessages
    /// Fetches a chunk from the newer end of a gap, and returns the time of its oldest event.
    let fill: @Sendable (TimelineGap, RoomID) async throws -> Date?

    /// Fills gaps in rooms where a sync begun after an own message was accepted did not return it.
    func find(after sync: Int) async {
        for room in unsent.withEchoes({ $0.roomsMissing(after: sync) }) {
            // Errors are ignored: the next sync tries again.
            try? await search(room, after: sync)
        }
    }

    private func search(_ room: RoomID, after sync: Int) async throws {
        for _ in 0..<Self.maxChunks {
            guard let queuedAt = unsent.withEchoes({ $0.earliestMissing(in: room, after: sync) }),
                let gap = try await store.lastGap(in: room)
            else { return }
            let earliest = try await fill(gap, room)
            // An event cannot be older than its local request. If it was not found by then, the server lags and a later
            // sync will return it.
            guard earliest.map({ $0 > queuedAt.addingTimeInterval(-Self.clockSkew) }) ?? true else {
                return unsent.withEchoes { $0.abandonMissing(in: room, after: sync) }
            }
        }
    }
}
