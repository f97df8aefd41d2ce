import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatStore

/// Room events are stored among the messages but are not messages.
@Suite(.timeLimit(.minutes(10))) struct RoomEventTests {
    private let room = RoomID("!room")
    private let ann = MemberID("@ann:a")
    private let folder = TemporaryFolder()

    private func event(_ number: Int, _ event: RoomEvent) -> TimelineEvent {
        .message(
            NewMessage(
                id: MessageID("$\(number)"), sender: ann, event: event,
                sentAt: Date(timeIntervalSince1970: Double(number))))
    }

    private func text(_ number: Int) -> TimelineEvent {
        .message(
            NewMessage(
                id: MessageID("$\(number)"), sender: ann, text: "text \(number)",
                sentAt: Date(timeIntervalSince1970: Double(number))))
    }

    @Test func roomEventsSurviveARoundTrip() async throws {
        let store = try await ChatStore.open(in: folder.path("store"))
        let events = RoomEvent.Kind.allCases.enumerated().map { number, kind in
            RoomEvent(
                kind, subject: number % 2 == 0 ? ann : nil, name: number % 3 == 0 ? "Ann" : nil, before: "b",
                after: number % 5 == 0 ? nil : "a")
        }
        let batch = RoomBatch(id: room, createdAt: Fixtures.date, events: events.enumerated().map { event($0, $1) })
        let outcome = try #require(try await store.apply(SyncBatch(rooms: [batch])).first)
        #expect(outcome.changed.map(\.event) == events)
        let page = try await store.messages(in: room, before: .max, limit: 100)
        #expect(page.messages.map(\.event) == events && page.messages.allSatisfy { $0.kind == .event })
        #expect(try await store.integrityProblems() == [])
        await store.close()
    }

    @Test func roomEventsAreNotUnreadNorPreviewedNorSearched() async throws {
        let store = try await ChatStore.open(in: folder.path("store"))
        let joined = RoomEvent(.joined, subject: ann, name: "text")
        let batch = RoomBatch(
            id: room, createdAt: Date(timeIntervalSince1970: 0),
            events: [event(0, joined), text(1), event(2, RoomEvent(.topicSet, after: "text"))])
        _ = try await store.apply(SyncBatch(rooms: [batch]))
        func summary() async throws -> RoomSummary? { try await store.roomSummaries().first }
        #expect(try await summary()?.unreadCount == 1)
        #expect(try await summary()?.lastMessage?.text == "text 1")
        #expect(try await summary()?.lastActivity == Date(timeIntervalSince1970: 1))
        let found = try await store.search(SearchQuery(text: "text", matching: .terms))
        #expect(found.messages.map(\.id) == [MessageID("$1")])
        let all = try await store.search(SearchQuery(text: "", matching: .terms, room: room))
        #expect(all.messages.allSatisfy { $0.event == nil })
        #expect(try await store.markRead(MessageID("$0"), in: room))
        #expect(try await summary()?.unreadCount == 1, "counted anew")
        #expect(try await store.markRead(MessageID("$2"), in: room), "one reads as far as that")
        #expect(try await summary()?.unreadCount == 0)
        var deletion = RoomBatch(id: room, createdAt: Date())
        deletion.events = [
            .change(MessageChange(id: "$d", target: MessageID("$1"), sender: ann, at: Date(), kind: .deletion)),
            .change(MessageChange(id: "$e", target: MessageID("$2"), sender: ann, at: Date(), kind: .deletion)),
            .change(MessageChange(id: "$f", target: MessageID("$0"), sender: ann, at: Date(), kind: .reaction("👍"))),
        ]
        _ = try await store.apply(SyncBatch(rooms: [deletion]))
        #expect(try await summary()?.lastMessage == nil, "what happened does not take its place")
        let messages = try await store.messages(in: room, before: .max, limit: 10).messages
        #expect(messages.last?.event == RoomEvent(.topicSet) && messages.last?.isDeleted == false, "its words are gone")
        #expect(messages.first?.event == joined && messages.first?.reactions == [])
        await store.close()
    }

    @Test func messagesDeletedBeforeArrivalAreNotUnread() async throws {
        let store = try await ChatStore.open(in: folder.path("store"))
        let gone = NewMessage(id: MessageID("$2"), sender: ann, text: "", sentAt: Date())
        let batch = RoomBatch(id: room, createdAt: Date(), events: [text(1), .deleted(gone)])
        _ = try await store.apply(SyncBatch(rooms: [batch]))
        let summary = try #require(try await store.roomSummaries().first)
        #expect(summary.unreadCount == 1 && summary.lastMessage?.text == "text 1")
        await store.close()
    }

    @Test func leavingWithoutANameKeepsTheDisplayName() async throws {
        let store = try await ChatStore.open(in: folder.path("store"))
        var batch = RoomBatch(id: room, createdAt: Date())
        batch.members = [Member(id: ann, displayName: "Ann", kind: .person)]
        _ = try await store.apply(SyncBatch(rooms: [batch]))
        batch.members = [Member(id: ann, displayName: ann.rawValue, kind: .person, hasLeft: true)]
        let outcome = try await store.apply(SyncBatch(rooms: [batch]))
        #expect(outcome.first?.members == [Member(id: ann, displayName: "Ann", kind: .person, hasLeft: true)])
        await store.close()
    }
}
