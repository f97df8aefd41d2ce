public import ChatCore
import GRDB

extension ChatStore: SearchService {
    /// Looks at no more than ``SearchPass/mostCandidates`` messages that the indexes offer in vain; a query for very
    /// common parts goes on at the cursor.
    public func search(_ query: SearchQuery) async throws -> SearchPage {
        try await read { db in
            var room: Int64?
            var sender: Int64?
            if let id = query.room {
                guard let record = try RoomRecord.find(id, in: db) else { return .nothing }
                room = record.key
            }
            if let id = query.sender {
                guard let key = try UserRow.find(id, in: db) else { return .nothing }
                sender = key
            }
            guard let expression = SearchExpression(query, room: room, sender: sender) else { return .nothing }
            return try SearchPass(query: query, expression: expression, room: room, sender: sender).run(in: db)
        }
    }
}

extension SearchPage {
    fileprivate static let nothing = SearchPage(messages: [], next: nil)
}

/// One page of a search.
struct SearchPass {
    /// What is looked at for one page.
    static let mostCandidates = 20_000

    let query: SearchQuery
    let expression: SearchExpression
    let room: Int64?
    let sender: Int64?

    func run(in db: Database) throws -> SearchPage {
        let limit = min(max(query.limit, 0), 1000)
        guard limit > 0 else { return .nothing }
        let needle = query.text.lowercased()
        let candidates = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT f.rowid AS arrival, m.key, m.text FROM \(expression.index.rawValue) f
                    CROSS JOIN message m ON m.arrival = f.rowid
                    WHERE f.\(expression.index.rawValue) MATCH ?1 AND f.rowid < ?2
                        AND (?3 IS NULL OR m.room = ?3) AND (?4 IS NULL OR m.sender = ?4)
                    ORDER BY f.rowid DESC
                    """), arguments: [expression.match, query.after?.rawValue ?? Int64.max, room, sender])
        var keys: [Int64] = []
        var seen = 0
        var last: Int64?
        var isMore = false
        while let row = try candidates.next() {
            guard keys.count < limit, seen < Self.mostCandidates else {
                isMore = true
                break
            }
            seen += 1
            last = try row.value("arrival")
            if try isMatch(row, needle) { keys.append(try row.value("key")) }
        }
        let messages = try MessageQuery.messages(keys, in: db)
        return SearchPage(messages: messages, next: isMore ? last.map(SearchCursor.init(rawValue:)) : nil)
    }

    /// Words are found by the index alone; a part has to be there as a whole.
    private func isMatch(_ row: Row, _ needle: String) throws -> Bool {
        guard query.matching == .part, !needle.isEmpty else { return true }
        let text: String = try row.value("text")
        return text.lowercased().contains(needle)
    }
}
