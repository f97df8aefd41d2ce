import ChatCore
import ChatTestSupport
import Foundation
import GRDB
import Testing

@testable import ChatStore

/// Applying sync batches: gaps, and the history that fills them.
@Suite(.timeLimit(.minutes(10))) struct TimelineGapTests: SyncTesting {
    let folder = TemporaryFolder()

    @Test func gapIsStoredAndFilledFromItsEnd() async throws {
        let store = try await open()
        try await apply([event(1), event(2)], to: store)
        try await apply([event(8), event(9)], gap: "p8", to: store)
        #expect(try await store.gaps(in: room).map(\.token) == ["p8"])
        try await apply([], gap: "p12", to: store)
        try await apply([event(12)], to: store)
        #expect(try await store.gaps(in: room).map(\.token) == ["p8", "p12"], "one without a message is one too")
        let first = try #require(try await store.gaps(in: room).first)
        let outcome = try await store.fill(first, in: room, with: [event(6), event(7)], next: "p6")
        #expect(outcome?.changed.map(\.text) == ["6", "7"])
        #expect(try await store.fill(first, in: room, with: [event(5)], next: nil) == nil, "it is another by now")
        let rest = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(rest, in: room, with: [event(1), event(2), event(3), event(4), event(5)], next: "p0")
        let last = try #require(try await store.gaps(in: room).first)
        #expect(last.token == "p12", "what is known ends a gap")
        _ = try await store.fill(last, in: room, with: [event(10), event(11)], next: nil)
        #expect(try await store.gaps(in: room).isEmpty)
        #expect(try await texts(store) == (1...12).map(String.init))
        #expect(try await store.integrityProblems() == [])
    }

    /// Between two limited syncs without messages there is a single gap, with the later token.
    @Test func gapWithoutMessagesUsesTheLaterToken() async throws {
        let store = try await open()
        try await apply([event(1), event(2)], to: store)
        for token in ["p5", "p5", "p9"] { try await apply([], gap: token, to: store) }
        #expect(try await store.gaps(in: room).map(\.token) == ["p9"])
        let gap = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(gap, in: room, with: (2..<9).map(event), next: "p2")
        #expect(try await store.gaps(in: room).isEmpty)
        try await apply([event(9)], to: store)
        #expect(try await texts(store) == (1...9).map(String.init))
    }

    @Test func repeatedNonMessageEventsMakeOneGap() async throws {
        let store = try await open()
        try await apply([event(3), event(4)], gap: "p3", to: store)
        for _ in 0..<2 { try await apply([.silent(MessageID("$8"))], gap: "p8", to: store) }
        #expect(try await store.gaps(in: room).map(\.token) == ["p3", "p8"])
        let gap = try #require(try await store.gaps(in: room).last)
        _ = try await store.fill(gap, in: room, with: (1..<8).map(event), next: nil)
        #expect(try await store.gaps(in: room).map(\.token) == ["p3"], "what is older belongs in front")
        try await apply([event(9)], to: store)
        #expect(try await texts(store) == (3...7).map(String.init) + ["9"])
    }

    /// Out-of-order history of earlier versions.
    @Test func olderHistoryIsNeverInsertedAfterNewerMessages() async throws {
        let store = try await open()
        try await apply([event(3), event(4)], gap: "p3", to: store)
        try await apply([event(9)], gap: "p9", to: store)
        try await store.write { db in
            try db.execute(
                sql: "INSERT INTO gap (room, position, token) SELECT room, position - 9, 'p6' FROM gap LIMIT 2")
        }
        let gap = try #require(try await store.gaps(in: room).last)
        _ = try await store.fill(gap, in: room, with: (1..<9).map(event), next: nil)
        #expect(try await texts(store) == (3...9).map(String.init))
        let oldest = try #require(try await store.gaps(in: room).first { $0.token == "p3" })
        _ = try await store.fill(oldest, in: room, with: [event(1), event(2)], next: nil)
        #expect(try await texts(store) == (1...9).map(String.init))
    }

    @Test("A gap is found from a position in either direction") func gapsAroundAPosition() async throws {
        let store = try await open()
        try await apply([event(0)], to: store)
        #expect(try await store.lastGap(in: room) == nil)
        for number in [3, 6, 9] { try await apply([event(number)], gap: "p\(number)", to: store) }
        let gaps = try await store.gaps(in: room)
        #expect(gaps.map(\.token) == ["p3", "p6", "p9"])
        #expect(try await store.lastGap(in: room) == gaps[2])
        for position in gaps.flatMap({ [$0.position - 1, $0.position, $0.position + 1] }) {
            #expect(
                try await store.lastGap(in: room, upTo: position) == gaps.last { $0.position <= position })
            #expect(
                try await store.firstGap(in: room, after: position) == gaps.first { $0.position > position })
        }
        await #expect(throws: ChatError.notFound) { try await store.lastGap(in: RoomID("!none")) }
    }

    @Test func repeatedEventsFillTheGapsBetweenThem() async throws {
        let store = try await open()
        try await apply([event(0)], to: store)
        try await apply([event(3)], gap: "p3", to: store)
        try await apply([event(6)], gap: "p6", to: store)
        try await apply((0..<9).map(event), to: store)
        #expect(try await texts(store) == (0..<9).map(String.init))
        #expect(try await store.gaps(in: room).isEmpty)
    }

    /// A chunk splits a gap; paging on to its end, or a chunk that overlaps both ends, closes it.
    @Test func chunkSplitsAGapUntilItMeetsItsEnds() async throws {
        let store = try await open()
        try await apply([event(0), event(1)], to: store)
        try await apply([event(40), event(41)], gap: "p40", to: store)
        func gap(_ place: Int) async throws -> TimelineGap { try await store.gaps(in: room)[place] }
        let island = TimelineChunk(events: (20..<23).map(event), older: "p20", newer: "n23")
        #expect(try await store.insertChunk(island, in: gap(0), of: room)?.changed.map(\.text) == ["20", "21", "22"])
        #expect(try await texts(store) == ["0", "1", "20", "21", "22", "40", "41"])
        #expect(try await store.gaps(in: room).map(\.token) == ["p20", "p40"])
        #expect(try await store.gaps(in: room).map(\.forward) == [nil, "n23"])
        #expect(try await store.roomSummaries().first?.lastMessage?.text == "41")
        // Page forward from its end up to the known messages.
        let more = TimelineChunk(events: (23..<30).map(event), newer: "n30")
        _ = try await store.insertChunk(more, in: gap(1), of: room, isContiguous: true)
        let rest = TimelineChunk(events: (30..<42).map(event), newer: "n42")
        _ = try await store.insertChunk(rest, in: gap(1), of: room, isContiguous: true)
        #expect(try await store.gaps(in: room).map(\.token) == ["p20"])
        // A chunk that overlaps both ends closes the gap.
        let whole = TimelineChunk(events: (1..<21).map(event), older: "p1", newer: "n21")
        _ = try await store.insertChunk(whole, in: gap(0), of: room)
        #expect(try await store.gaps(in: room).isEmpty)
        #expect(try await texts(store) == ([0, 1] + Array(2..<42)).map(String.init))
        #expect(try await store.integrityProblems() == [])
    }

    /// With wrong server timestamps a chunk may land in the wrong gap, which it must not close.
    @Test func misplacedChunkHidesNoMessages() async throws {
        let store = try await open()
        try await apply([event(0), event(1)], to: store)
        try await apply([event(20), event(21)], gap: "p20", to: store)
        try await apply([event(40), event(41)], gap: "p40", to: store)
        // The chunk belongs in the first gap.
        let last = try #require(try await store.gaps(in: room).last)
        _ = try await store.insertChunk(
            TimelineChunk(events: [event(10)], older: "p10", newer: "n11"), in: last, of: room)
        #expect(
            try await store.insertChunk(
                TimelineChunk(events: [event(9), event(10)], older: "p9"),
                in: #require(try await store.gaps(in: room).first), of: room) == nil, "it is known elsewhere")
        for end in [40, 30, 20, 10] {
            guard let gap = try await store.gaps(in: room).first(where: { $0.token == "p\(end)" }) else { continue }
            _ = try await store.fill(
                gap, in: room, with: (end - 10..<end).map(event), next: end == 10 ? nil : "p\(end - 10)")
        }
        while let gap = try await store.gaps(in: room).first, let end = Int(gap.token.dropFirst()) {
            _ = try await store.fill(
                gap, in: room, with: (max(0, end - 10)..<end).map(event), next: end <= 10 ? nil : "p\(end - 10)")
        }
        #expect(try await Set(texts(store)) == Set((0..<42).map(String.init)))
        #expect(try await texts(store).count == 42)
    }

    @Test func overlappingFillStoresEachEventOnce() async throws {
        let store = try await open()
        try await apply((5..<8).map(event), gap: "p5", to: store)
        let gap = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(gap, in: room, with: (0..<7).map(event), next: nil)
        #expect(try await texts(store) == (0..<8).map(String.init))
        #expect(try await store.gaps(in: room).isEmpty)
    }

    @Test func overlappingEventsFillMissingPlaces() async throws {
        let store = try await open()
        try await apply([event(8), event(9)], gap: "p8", to: store)
        try await apply([event(6), event(7), event(8), event(9), event(10)], gap: "p6", to: store)
        #expect(try await texts(store) == (6...10).map(String.init))
        #expect(try await store.gaps(in: room).map(\.token) == ["p6"])
    }
}
