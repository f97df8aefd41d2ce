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

    /// Returns the number of unsent items that would be lost with this store.
    public func pendingCount() async throws -> PendingCount {
        let requests = try await outboxRequests()
        let changes = requests.count { $0.action.target != nil }
        let sent = try await read { db in try RoomTable(db: db).sentDrafts }
        let drafts = try await readPending { db in try DraftTable(db: db).tokens }
        return PendingCount(
            messages: requests.count - changes, changes: changes, drafts: drafts.count { !sent.contains($0) })
    }
}
