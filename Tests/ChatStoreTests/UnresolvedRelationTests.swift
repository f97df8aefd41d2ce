import ChatCore
import ChatTestSupport
import Foundation
import GRDB
import Testing

@testable import ChatStore

/// Relations to messages that are not stored yet, in an in-memory database.
@Suite struct UnresolvedRelationTests {
    private func reaction(_ number: Int, by sender: String, at time: Double) -> MessageChange {
        MessageChange(
            id: "$\(sender)\(number)", target: MessageID("$\(number)"), sender: MemberID(sender),
            at: Date(timeIntervalSince1970: time), kind: .reaction("👍"))
    }

    @Test("A member who sends more than are stored, dated in the future, only replaces their own, the oldest first")
    func limit() throws {
        let queue = try DatabaseQueue()
        try Schema.history.migrate(queue)
        try queue.write { db in
            try RoomTable(db: db).insert(
                NewRoom(room: Fixtures.room(), members: [Fixtures.own, Fixtures.other], createdAt: Fixtures.date))
            let room = try RoomRecord.get(Fixtures.room().id, in: db)
            func store(_ change: MessageChange) throws {
                try UnresolvedRelation.store(change, in: room, atMost: 6, db)
            }
            try store(reaction(1, by: "@ann:a", at: 1))
            for number in 1...20 { try store(reaction(number, by: "@eve:a", at: 1000 + Double(number))) }
            for number in 2...3 { try store(reaction(number, by: "@ann:a", at: Double(number))) }
            let stored = try String.fetchAll(db, sql: "SELECT id FROM orphan ORDER BY sender, givenAt")
            #expect(stored == ["$@ann:a1", "$@ann:a2", "$@ann:a3", "$@eve:a18", "$@eve:a19", "$@eve:a20"])
            let waiting = try UnresolvedRelation.removeAll(of: MessageID("$3"), in: room, db)
            #expect(waiting.map(\.sender) == [MemberID("@ann:a")])
        }
    }
}
