import ChatCore
import ChatStore
import Foundation

/// A sync that leaves messages out may leave out one's own: it must not be shown as on its way until somebody happens to
/// scroll to where it is missing.
extension MatrixBackend {
    /// Pieces of history that are asked for in one room between two syncs.
    private static let maxChunks = 20
    /// Seconds by which the server's clock may be behind this one's.
    private static let clockSkew: TimeInterval = 3600

    /// Fills what is missing where the server had a message of one's own before a sync began that did not bring it.
    func findMissing(after sync: Int) async {
        for room in localEchoes.roomsMissing(after: sync) {
            // What fails is asked for again after the next sync.
            try? await search(room, after: sync)
        }
    }

    private func search(_ room: RoomID, after sync: Int) async throws {
        for _ in 0..<Self.maxChunks {
            guard let queuedAt = localEchoes.earliestMissing(in: room, after: sync),
                let gap = try await store.gaps(in: room).last
            else { return }
            let earliest = try await fill(gap, in: room).earliest
            // Nothing is at the server before it was queued here: a server that lags behind itself brings it later.
            guard earliest.map({ $0 > queuedAt.addingTimeInterval(-Self.clockSkew) }) ?? true else {
                return await serialized { localEchoes.abandonMissing(in: room, after: sync) }
            }
        }
    }
}
