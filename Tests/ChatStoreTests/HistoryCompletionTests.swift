import ChatCore
import ChatTestSupport
import Foundation
import Testing
import ToolSupport

@testable import ChatStore

/// Messages that the server left out between stored ones, because their sender was ignored.
@Suite(.timeLimit(.minutes(10))) struct HistoryCompletionTests: SyncTesting {
    let folder = TemporaryFolder()
    private let me = MemberID("@me:a")
    private let bob = MemberID("@bob:a")
    private let carl = MemberID("@carl:a")

    private func join(_ batch: inout RoomBatch) {
        batch.members = [
            Member(id: me, displayName: "Me", kind: .own), Member(id: ann, displayName: "Ann", kind: .person),
            Member(id: bob, displayName: "Bob", kind: .person),
        ]
    }

    /// A message of the user who was ignored.
    private func missing(_ number: Int) -> TimelineEvent { .message(message(number, by: bob)) }

    private func silent(_ id: String) -> TimelineEvent { .silent(MessageID(id)) }

    private func ignoreForAWhile(_ store: ChatStore) async throws {
        try await store.setIgnoredUsers([bob])
        #expect(try await store.incompleteRooms().isEmpty)
        try await store.setIgnoredUsers([])
        #expect(try await store.incompleteRooms() == [room])
    }

    /// Completes with events before a message, or else before the end of the room as it is stored.
    private func complete(
        _ store: ChatStore, _ events: [TimelineEvent], before end: String? = nil, older token: String?,
        by senders: Set<MemberID>? = nil
    ) async throws -> HistoryCompletion {
        let last = try await store.incompleteRoom(room)?.last
        return try await store.complete(
            room, with: events, before: end.map { HistoryEnd.message(MessageID($0)) } ?? .now(last: last),
            older: token, by: senders ?? [bob])
    }

    private func counts(_ store: ChatStore) async throws -> [Int] {
        let summary = try #require(try await store.roomSummaries().first)
        return [summary.unreadCount, summary.mentionCount]
    }

    @Test("What was left out is inserted where it belongs; receipts, the read marker and relations move along")
    func insertion() async throws {
        let store = try await open()
        try await apply(
            [event(1), event(4), silent("$s"), event(5), change("$r", 5, .reaction("👍"))], to: store
        ) {
            self.join(&$0)
            $0.receipts = [ReadReceipt(member: carl, message: MessageID("$5"), readAt: Fixtures.date)]
            $0.fullyReadMarkers = [MessageID("$4")]
        }
        try await ignoreForAWhile(store)
        var mention = message(6, by: bob)
        mention.notificationLevel = .mention
        let events = [
            event(1), missing(2), missing(3), event(4), silent("$s"), event(5), .message(mention),
            change("$e", 2, .edit(Wording("edited")), by: bob.rawValue),
        ]
        let completion = try await complete(store, events, older: nil)
        #expect(completion.remainder == .nothing && completion.change?.needsReload == true)
        #expect(completion.change?.changed.map(\.text) == ["edited", "3", "6"])
        #expect(try await texts(store) == ["1", "edited", "3", "4", "5", "6"])
        try await store.endCompletion(of: room, by: [bob])
        #expect(try await store.incompleteRooms().isEmpty)
        #expect(try await counts(store) == [2, 1], "what is behind the marker")
        let fifth = try #require(try await store.messages([MessageID("$5")], in: room).first)
        #expect(fifth.readReceipts.map(\.member) == [carl] && fifth.reactions.map(\.text) == ["👍"])
        #expect(try await store.snapshot(of: room, limit: 9)?.fullyReadMarker == MessageID("$4"))
        #expect(try await store.roomSummaries().first?.lastMessage?.text == "6")
        try await apply([event(7)], to: store)
        #expect(try await texts(store).suffix(2) == ["6", "7"])
        #expect(try await store.search(SearchQuery(text: "3")).messages.count == 1)
        #expect(try await store.integrityProblems() == [])
        await store.close()
    }

    @Test("What precedes the first known event of a page waits for an older page")
    func pages() async throws {
        let store = try await open()
        try await apply([event(1), event(4), event(5)], to: store, join)
        try await ignoreForAWhile(store)
        var step = try await complete(store, [silent("$s"), change("$r", 5, .reaction("👍"))], older: "p9")
        #expect(step.remainder == .older, "nothing in it is missing")
        step = try await complete(
            store, [missing(3), event(4), event(5), missing(6), missing(7)], older: "p3")
        #expect(step.remainder == .before(MessageID("$4")) && step.isWhole)
        #expect(try await texts(store) == ["1", "4", "5", "6", "7"])
        step = try await complete(
            store, [missing(0), event(1), missing(2), missing(3)], before: "$4", older: nil)
        #expect(step.remainder == .nothing && step.isWhole)
        #expect(try await texts(store) == (0...7).map(String.init))
        await store.close()
    }

    @Test("A gap is left to those who fill it; what is before it is requested anew")
    func gaps() async throws {
        let store = try await open()
        try await apply([event(0), event(2)], to: store, join)
        try await apply([event(8), event(10)], gap: "p8", to: store)
        try await ignoreForAWhile(store)
        var step = try await complete(
            store, [event(6), missing(7), event(8), missing(9), event(10)], older: "p6")
        #expect(step.remainder == .beforeGap(MessageID("$2")))
        #expect(try await texts(store) == ["0", "2", "8", "9", "10"])
        step = try await complete(store, [event(0), missing(1)], before: "$2", older: nil)
        #expect(step.remainder == .nothing)
        let gap = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(
            gap, in: room, with: [event(2), missing(3), event(4), event(5), event(6), missing(7)], next: "p2")
        #expect(try await store.gaps(in: room).isEmpty)
        #expect(try await texts(store) == (0...10).map(String.init))
        #expect(try await store.integrityProblems() == [])
        await store.close()
    }

    @Test("A gap is made where nothing in a page is known, at the end and between messages")
    func newGaps() async throws {
        let store = try await open()
        try await apply([event(1), event(9)], to: store, join)
        try await ignoreForAWhile(store)
        var step = try await complete(store, [missing(12), missing(13)], older: "p12")
        #expect(step.remainder == .beforeGap(MessageID("$9")) && step.change?.needsReload == true)
        step = try await complete(store, [missing(7), silent("$s"), missing(8)], before: "$9", older: "p7")
        #expect(step.remainder == .beforeGap(MessageID("$1")) && step.isWhole)
        step = try await complete(store, [missing(0)], before: "$1", older: nil)
        #expect(step.remainder == .nothing)
        #expect(try await texts(store) == ["0", "1", "7", "8", "9", "12", "13"])
        try await apply([event(14)], to: store)
        let gaps = try await store.gaps(in: room)
        #expect(gaps.map(\.token) == ["p7", "p12"])
        _ = try await store.fill(gaps[1], in: room, with: [event(9), missing(10), missing(11)], next: "p9")
        _ = try await store.fill(gaps[0], in: room, with: [event(1), missing(2)], next: "p1")
        #expect(try await store.gaps(in: room).isEmpty)
        #expect(try await texts(store) == ["0", "1", "2"] + (7...14).map(String.init))
        #expect(try await store.integrityProblems() == [])
        await store.close()
    }

    @Test("What was stored since a page was requested stays behind it; a page without a known message is outdated")
    func newerMessages() async throws {
        let store = try await open()
        try await apply([event(1)], to: store, join)
        try await ignoreForAWhile(store)
        let before = HistoryEnd.now(last: try await store.incompleteRoom(room)?.last)
        try await apply([event(5)], to: store)
        var step = try await store.complete(room, with: [missing(2)], before: before, older: "p2", by: [bob])
        #expect(step == HistoryCompletion(remainder: .outdated))
        step = try await store.complete(
            room, with: [event(1), missing(2), silent("$s"), missing(3)], before: before, older: nil, by: [bob])
        #expect(step.remainder == .nothing && step.isWhole)
        #expect(try await texts(store) == ["1", "2", "3", "5"])
        await store.close()
    }

    @Test("Hidden messages of another user, whom the server still leaves out, are in no way")
    func hiddenMessages() async throws {
        let store = try await open()
        let hidden = { (number: Int) in TimelineEvent.message(self.message(number, by: self.carl)) }
        try await apply([event(1), hidden(3), event(4), hidden(6)], to: store) {
            self.join(&$0)
            $0.members.append(Member(id: self.carl, displayName: "Carl", kind: .person))
        }
        try await apply([event(9)], gap: "p9", to: store)
        try await store.setIgnoredUsers([bob, carl])
        try await store.setIgnoredUsers([carl])
        let step = try await complete(store, [event(9), missing(10)], older: "p8")
        #expect(step.remainder == .beforeGap(MessageID("$4")), "a server does not answer for a hidden one")
        let last = try await complete(
            store, [event(1), missing(2)], before: "$4", older: nil)
        #expect(last.remainder == .nothing)
        try await store.setIgnoredUsers([])
        #expect(try await texts(store) == ["1", "2", "3", "4", "6", "9", "10"])
        await store.close()
    }

    @Test("At the end of a room nothing is stored that the sync may still bring")
    func endOfRoom() async throws {
        let store = try await open()
        try await apply([event(1)], to: store, join)
        try await ignoreForAWhile(store)
        let events = [event(1), silent("$s"), missing(2), event(3), missing(4)]
        let step = try await complete(store, events, older: "p1")
        #expect(!step.isWhole)
        #expect(try await texts(store) == ["1", "2"])
        let change = try await apply([silent("$s"), event(3), missing(4)], to: store)
        #expect(change.arrived.map(\.message.text) == ["3", "4"])
        #expect(try await texts(store) == ["1", "2", "3", "4"])
        await store.close()
    }

    @Test("Nothing is missing far before the time when a user was ignored, nor by others")
    func bounds() async throws {
        let store = try await open()
        try await apply((1...40).map(event), to: store, join)
        try await ignoreForAWhile(store)
        let recent: [TimelineEvent] = [event(19), missing(190), event(20), missing(200), event(21), event(1000)]
        let step = try await complete(store, recent + (22...40).map(event), older: "p19")
        #expect(step.remainder == .nothing)
        #expect(try await texts(store)[18..<22] == ["19", "20", "200", "21"], "the sync brings what others send")
        await store.close()
    }

    @Test("History that was fetched while a user was ignored is examined, too")
    func filledGap() async throws {
        let store = try await open()
        try await apply([event(1)], to: store, join)
        try await apply((10...40).map(event), gap: "p10", to: store)
        try await store.setIgnoredUsers([bob])
        let gap = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(gap, in: room, with: [event(1), event(8), event(9)], next: "p1")
        try await store.setIgnoredUsers([])
        let events = [event(1), missing(2), event(8), event(9)] + (10...40).map(event)
        let step = try await complete(store, events, older: "p1")
        #expect(step.remainder == .nothing)
        #expect(try await texts(store) == ["1", "2"] + (8...40).map(String.init))
        await store.close()
    }

    @Test("A user who is ignored again is waited for, and what was missing before is still known to be")
    func ignoredAgain() async throws {
        let store = try await open()
        try await apply([event(1), event(3)], to: store, join)
        try await ignoreForAWhile(store)
        _ = try await complete(store, [event(3), missing(4)], older: "p3")
        try await store.setIgnoredUsers([bob])
        #expect(try await store.incompleteRooms().isEmpty)
        let step = try await complete(store, [event(1)], before: "$3", older: nil)
        #expect(step == HistoryCompletion(remainder: .nothing))
        try await store.endCompletion(of: room, by: [bob])
        try await store.setIgnoredUsers([])
        _ = try await complete(store, [event(1), missing(2), event(3), missing(4)], older: nil)
        #expect(try await texts(store) == ["1", "2", "3", "4"])
        await store.close()
    }

    @Test("A user who is un-ignored during the completion for another is not forgotten")
    func otherUser() async throws {
        let store = try await open()
        try await apply([event(1), event(3)], to: store) {
            self.join(&$0)
            $0.members.append(Member(id: self.carl, displayName: "Carl", kind: .person))
        }
        try await store.setIgnoredUsers([bob, carl])
        try await store.setIgnoredUsers([carl])
        let before = try #require(try await store.incompleteRoom(room))
        #expect(before == IncompleteRoom(senders: [bob], last: MessageID("$3")))
        try await store.setIgnoredUsers([])
        _ = try await complete(store, [event(1), missing(2), event(3)], older: nil, by: before.senders)
        try await store.endCompletion(of: room, by: before.senders)
        #expect(try await store.incompleteRoom(room)?.senders == [carl])
        await store.close()
    }

    /// A server's history, of which some messages are not stored.
    private struct Log {
        var events: [TimelineEvent] = []
        var left: Set<MessageID> = []

        var order: [String] { events.compactMap { $0.message?.id.rawValue } }
    }

    private func makeLog(_ random: inout SeededGenerator) -> Log {
        var log = Log()
        for number in 0..<Int.random(in: 2...40, using: &random) {
            let isLeft = Int.random(in: 0..<5, using: &random) < 2
            if Int.random(in: 0..<4, using: &random) == 0 {
                log.events.append(silent("$\(number)"))
            } else {
                log.events.append(isLeft ? missing(number) : event(number))
            }
            if isLeft, let id = log.events.last?.id { log.left.insert(id) }
        }
        return log
    }

    @Test("Random histories are completed in pages of any length", arguments: 0..<40)
    func randomHistories(seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let store = try await open()
        let log = makeLog(&random)
        let stored = log.events.filter { event in event.id.map { !log.left.contains($0) } ?? false }
        try await apply([], to: store, join)
        try await store.setIgnoredUsers([bob])
        try await apply(stored, to: store)
        let known = stored.compactMap(\.message?.id)
        let read = known.randomElement(using: &random)
        if let read { _ = try await store.markRead(read, in: room) }
        try await store.setIgnoredUsers([])
        let length = Int.random(in: 1...9, using: &random)
        var (end, index, rest): (String?, Int, [TimelineEvent]) = (nil, log.events.count, [])
        walk: while true {
            let start = max(0, index - length)
            let events = log.events[start..<index] + rest
            let step = try await complete(
                store, Array(events), before: end, older: start == 0 ? nil : "p\(start)")
            #expect(step.isWhole)
            switch step.remainder {
            case .nothing: break walk
            case .before(let next):
                rest = Array(events.prefix { $0.id != next })
                (end, index) = (next.rawValue, start)
            case .older: (rest, index) = ([], start)
            case .beforeGap(let next):
                (end, rest) = (next.rawValue, [])
                index = try #require(log.events.firstIndex(where: { $0.id == next }))
            case .outdated: throw CancellationError()
            }
        }
        while let gap = try await store.gaps(in: room).last {
            let end = try #require(Int(gap.token.dropFirst()))
            let start = max(0, end - length)
            _ = try await store.fill(
                gap, in: room, with: Array(log.events[start..<end]), next: start == 0 ? nil : "p\(start)")
        }
        let messages = try await store.messages(in: room, before: .max, limit: 100).messages
        #expect(messages.map(\.id.rawValue) == log.order)
        if let read, let place = log.order.firstIndex(of: read.rawValue) {
            #expect(try await counts(store) == [log.order.count - place - 1, 0])
        }
        #expect(try await store.integrityProblems() == [])
        await store.close()
    }
}
