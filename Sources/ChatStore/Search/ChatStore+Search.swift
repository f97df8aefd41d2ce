public import ChatCore

extension ChatStore: SearchService {
    /// Examines at most ``SearchPass/maxCandidates`` candidates for each page; a query with many false positives, or by
    /// time alone, continues at the cursor.
    public func search(_ query: SearchQuery) async throws -> SearchPage {
        guard !query.isEmpty else { return .nothing }
        return try await read { db in
            let rooms = try query.rooms.map { rooms in
                Set(try rooms.compactMap { try RoomRecord.find($0, in: db)?.key })
            }
            let senders = try query.senders.map { senders in
                Set(try senders.compactMap { try UserRow.find($0, in: db) })
            }
            guard rooms?.isEmpty != true, senders?.isEmpty != true else { return .nothing }
            var pass = SearchPass(query: query, rooms: rooms, senders: senders)
            return try pass.run(in: db)
        }
    }

    public func members(named name: String) async throws -> Set<MemberID> {
        let terms = SearchTerms(name)
        guard !terms.isEmpty else { return [] }
        return try await read { db in
            let table = MemberTable(db: db)
            return try name.lowercased() == "me" ? table.ownIDs : table.members(matching: terms)
        }
    }
}

extension SearchPage {
    static let nothing = SearchPage(messages: [], next: nil)
}
