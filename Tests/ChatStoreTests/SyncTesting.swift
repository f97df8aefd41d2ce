import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatStore

/// Shared by the suites that apply sync batches: a room, a member, and a store in the test's folder.
protocol SyncTesting {
    var folder: TemporaryFolder { get }
}

extension SyncTesting {
    var room: RoomID { RoomID("!room") }
    var ann: MemberID { MemberID("@ann:a") }

    func open() async throws -> ChatStore { try await ChatStore.open(in: folder.path("store")) }

    func message(_ number: Int, by sender: MemberID? = nil) -> NewMessage {
        NewMessage(
            id: MessageID("$\(number)"), sender: sender ?? ann, text: "\(number)",
            sentAt: Date(timeIntervalSince1970: Double(number)))
    }

    func event(_ number: Int) -> TimelineEvent { .message(message(number)) }

    func change(
        _ id: String, _ target: Int, _ kind: MessageChange.Kind, by sender: String = "@ann:a", at time: Double = 1000
    ) -> TimelineEvent {
        .change(
            MessageChange(
                id: id, target: MessageID("$\(target)"), sender: MemberID(sender),
                at: Date(timeIntervalSince1970: time), kind: kind))
    }

    @discardableResult
    func apply(
        _ events: [TimelineEvent], gap: String? = nil, to store: ChatStore, _ more: (inout RoomBatch) -> Void = { _ in }
    ) async throws -> RoomChange {
        var batch = RoomBatch(id: room, name: "Room", createdAt: Fixtures.date, events: events, gap: gap)
        more(&batch)
        let change = try #require(try await store.apply(SyncBatch(rooms: [batch], settings: ["token": "s1"])).first)
        if !change.isLeft {
            let stored = try await store.messages(change.changed.map(\.id), in: room)
            #expect(change.changed == stored, "observers get messages as they are stored")
        }
        return change
    }

    func texts(_ store: ChatStore) async throws -> [String] {
        try await store.messages(in: room, before: .max, limit: 10_000).messages.map(\.text)
    }
}
