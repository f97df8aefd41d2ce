import GRDB
import Testing

@testable import ChatStore

/// Queries that run with each change, and must not cost more with more rooms, members or messages.
@Suite struct QueryPlanTests {
    private func plan(of sql: String, _ arguments: StatementArguments) throws -> [String] {
        let queue = try DatabaseQueue()
        try Schema.history.migrate(queue)
        return try queue.write { db in
            try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql, arguments: arguments).map { $0["detail"] as String }
        }
    }

    @Test("Whether a room has ignored users is found without reading its members")
    func ignoredMembers() throws {
        let plan = try plan(of: RoomRecord.hasIgnoredMember, [1])
        #expect(plan.contains { $0.hasPrefix("SEARCH s") && $0.contains("room=? AND id=?") }, "\(plan)")
    }

    @Test("The rooms of a user are found without reading their other members")
    func roomsOfUser() throws {
        let plan = try plan(of: IgnoredUserTable.roomsOfUser, [1])
        #expect(plan.contains { $0.hasPrefix("SEARCH s") && $0.contains("room=? AND id=?") }, "\(plan)")
    }

    @Test("Rooms that were left are found without reading the others")
    func leftRooms() throws {
        let plan = try plan(of: StagedRooms.selectBetween, ["left-", "left."])
        #expect(plan.allSatisfy { $0.contains("id>? AND id<?") }, "\(plan)")
    }

    @Test("The receipts at an event are found without those at others")
    func receiptsAtAnEvent() throws {
        let plan = try plan(of: EventPositions.moveReceipts, [2, 1, 1, "$1"])
        #expect(plan.contains { $0.contains("receipt_position (room=? AND position=?)") }, "\(plan)")
    }
}
