import ChatCore
import ChatStore
import Foundation
import SeededRandom
import SoakSupport

/// Tells stores random histories in pieces that are cut, repeated and overlapping, fills the gaps, and compares what
/// is kept with what the server has.
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
        var random = SeededGenerator(seed: seed)
        var equal = 0
        for number in 0..<count {
            let store = try await ChatStore.open(in: folder.url.appendingPathComponent("\(number)"))
            let told = try await tell(store, &random)
            let kept = try await store.messages(in: room, before: .max, limit: 10_000).messages.map(\.text)
            if kept == (0..<told).map(String.init) {
                equal += 1
            } else {
                print("history \(number), of \(told) messages, is kept as \(kept.joined(separator: " "))")
            }
            await store.close()
        }
        SoakReport(name: "sync-histories", value: equal, unit: "histories", target: count).print()
        return equal == count
    }

    /// - Returns: how many messages the server has told of, in all.
    private func tell(_ store: ChatStore, _ random: inout SeededGenerator) async throws -> Int {
        func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
        try await apply([], gap: nil, to: store)
        var told = 0
        var count = 0
        for _ in 0..<12 {
            count += below(25)
            let limit = 1 + below(12)
            // From the last time on, or from before it: a server may tell things again.
            let from = max(0, told - (below(4) == 0 ? below(6) : 0))
            let start = max(from, count - limit)
            if start < count || below(2) == 0 {
                try await apply((start..<count).map(event), gap: start > told ? "\(start)" : nil, to: store)
                told = count
            }
            if below(3) == 0, let gap = try await store.gaps(in: room).randomElement(using: &random) {
                try await fill(gap, of: store, size: 1 + below(8))
            }
        }
        while let gap = try await store.gaps(in: room).first { try await fill(gap, of: store, size: 7) }
        return told
    }

    private func apply(_ events: [TimelineEvent], gap: String?, to store: ChatStore) async throws {
        let batch = RoomBatch(id: room, name: "Room", createdAt: Date(), events: events, gap: gap)
        _ = try await store.apply(SyncBatch(rooms: [batch]))
    }

    /// Tokens are the numbers of the events that they are before.
    private func fill(_ gap: TimelineGap, of store: ChatStore, size: Int) async throws {
        guard let end = Int(gap.token) else { throw SoakFailure("a gap with the token “\(gap.token)”") }
        let start = max(0, end - size)
        let next = start == 0 ? nil : "\(start)"
        _ = try await store.fill(gap, in: room, with: (start..<end).map(event), next: next)
    }

    private func event(_ number: Int) -> TimelineEvent {
        .message(
            NewMessage(
                id: MessageID("$\(number)"), sender: MemberID("@ann:a"), text: "\(number)",
                sentAt: Date(timeIntervalSince1970: Double(number))))
    }
}
