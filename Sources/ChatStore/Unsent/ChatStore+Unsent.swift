public import ChatCore
import GRDB

extension ChatStore {
    /// Returns the room's draft.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func draft(in room: RoomID) async throws -> SavedDraft? {
        let sent = try await read { db in try RoomRecord.get(room, in: db).sentDraft }
        return try await readPending { db in
            try DraftTable(db: db).row(of: room).flatMap { $0.token == sent ? nil : $0.draft }
        }
    }

    /// Stores the room's draft; `nil` removes it. The preview is truncated to 200 characters.
    /// - Returns: Whether the draft changed.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func saveDraft(_ draft: SavedDraft?, in room: RoomID) async throws -> Bool {
        let sent = try await read { db in try RoomRecord.get(room, in: db).sentDraft }
        let isChanged: Bool = try await writePending { db in
            let table = DraftTable(db: db)
            let stored = try table.row(of: room)
            let storedDraft = stored?.token == sent ? nil : stored?.draft
            guard let draft = draft?.truncated else {
                if let stored { try table.remove(stored, of: room) }
                return storedDraft != nil
            }
            guard draft != storedDraft else { return false }
            try table.set(draft, of: room)
            return true
        }
        if isChanged, draft != nil, try await !hasRoom(room) {
            // What removes a room removes its drafts before and after it. If both came before the write above, the
            // next start would recreate the room.
            try await removeUnsent(of: [room])
            throw ChatError.notFound
        }
        return isChanged
    }

    /// Removes the drafts and queued requests of rooms.
    func removeUnsent(of rooms: [RoomID]) async throws {
        guard !rooms.isEmpty else { return }
        try await writePending { db in
            for room in rooms {
                try DraftTable(db: db).remove(of: room)
                try OutboxTable(db: db).removeAll(of: room)
            }
        }
    }

    /// What was unsent in each room that a sync removes, just before it does. What nobody observes waits for an observer.
    public func unsentOfLeftRooms() -> AsyncStream<UnsentContent> { unsentFeed.values() }

    /// Tells the observers of ``unsentOfLeftRooms()`` what rooms hold.
    func reportUnsent(of rooms: [RoomID]) async throws {
        guard !rooms.isEmpty else { return }
        let listed: [(room: RoomID, sentDraft: Int64?)] = try await read { db in
            try rooms.compactMap { room in try RoomRecord.find(room, in: db).map { (room, $0.sentDraft) } }
        }
        guard !listed.isEmpty else { return }
        let contents: [UnsentContent] = try await readPending { db in
            let requests = try OutboxTable(db: db).requests
            return try listed.map { room, sent in
                let messages: [WrittenMessage] = requests.compactMap { request in
                    guard request.room == room, case .send(let message) = request.action else { return nil }
                    return message
                }
                let row = try DraftTable(db: db).row(of: room)
                return UnsentContent(
                    room: room, messages: messages, draft: row.flatMap { $0.token == sent ? nil : $0.draft })
            }
        }
        for content in contents where !content.messages.isEmpty || content.draft != nil { unsentFeed.publish(content) }
    }

    /// Returns the number of unsent items that would be lost with this store.
    public func pendingCount() async throws -> PendingCount {
        let sent = try await read { db in try RoomTable(db: db).sentDrafts }
        let drafts = try await readPending { db in try DraftTable(db: db).tokens }
        return PendingCount(of: try await outboxRequests(), drafts: drafts.count { !sent.contains($0) })
    }

    /// Returns the number of unsent items that would be lost with a room.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func pendingCount(in room: RoomID) async throws -> PendingCount {
        let requests = try await outboxRequests().filter { $0.room == room }
        return PendingCount(of: requests, drafts: try await draft(in: room) == nil ? 0 : 1)
    }
}

extension PendingCount {
    fileprivate init(of requests: [OutboxRequest], drafts: Int) {
        let changes = requests.count { $0.action.target != nil }
        self.init(messages: requests.count - changes, changes: changes, drafts: drafts)
    }
}
