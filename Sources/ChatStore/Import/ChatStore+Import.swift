public import ChatCore
public import Foundation

extension ChatStore {
    /// The room setting with the conversation's identifier in the program that it was imported from.
    public static let importSource = "imported"

    /// Creates a staged room, which lists and searches exclude.
    public func createStagedRoom(_ new: NewRoom) async throws {
        var new = new
        new.settings[StagedRooms.setting] = "1"
        try await createRoom(new)
    }

    /// Appends messages and their senders to a staged room.
    ///
    /// - Parameter messages: Oldest first. Messages whose identifier the room already has are skipped.
    /// - Returns: The number of added messages. A power loss may drop them, but the next start removes the staged room
    ///   anyway.
    /// - Throws: ``ChatError/notFound`` if there is no such room, ``ChatError/notPermitted`` if it is not staged or a
    ///   sender was never a member.
    public func addStaged(
        _ messages: [NewMessage], edited: [MessageID: Date] = [:], by members: [Member], to room: RoomID
    ) async throws -> Int {
        try await writeCache { db in
            let staged = StagedRooms(db: db)
            let record = try staged.room(room)
            for member in members { try MemberTable(db: db).put(member, into: record) }
            return try staged.append(messages, edited: edited, to: record)
        }
    }

    /// Applies changes to messages of a staged room.
    ///
    /// - Returns: The changes that had no effect: changes to unknown or deleted messages, edits by anyone but the
    ///   sender, and invalid reactions or messages.
    /// - Throws: ``ChatError/notFound`` if there is no such room, ``ChatError/notPermitted`` if it is not staged.
    public func changeStaged(
        _ changes: [ImportedChange], by members: [Member], in room: RoomID
    ) async throws -> [ImportedChange] {
        try await writeCache { db in
            let staged = StagedRooms(db: db)
            let record = try staged.room(room)
            for member in members { try MemberTable(db: db).put(member, into: record) }
            return try changes.filter { change in try !staged.apply(change, in: record) }
        }
    }

    /// Shows staged rooms under their names, marked as read, or merges their new messages into existing rooms.
    ///
    /// - Returns: The number of messages merged, by staged room.
    /// - Throws: ``ChatError/notFound`` or ``ChatError/notPermitted``; nothing is then changed.
    public func showStagedRooms(_ rooms: [FinishedImport]) async throws -> [RoomID: Int] {
        try await write { db in
            let staged = StagedRooms(db: db)
            var added: [RoomID: Int] = [:]
            for room in rooms {
                if let target = room.mergedInto {
                    added[room.staged] = try RoomMerge(
                        from: staged.room(room.staged), into: RoomRecord.get(target, in: db), db: db
                    ).run()
                } else {
                    try staged.show(RoomRecord.get(room.staged, in: db), named: room.name)
                }
            }
            return added
        }
    }

    /// Removes a staged room in batches, so that other writes need not wait for a million deletions.
    public func removeStagedRoom(_ room: RoomID) async throws {
        var hasMore = true
        while hasMore {
            hasMore = try await writeCache { db in
                let staged = StagedRooms(db: db)
                return try staged.removeHistory(of: staged.room(room))
            }
        }
        try await removeRoom(room)
    }

    /// Removes rooms that a sync has left, in the background. What an end of the program leaves is removed after the
    /// next opening.
    func removeLeftRooms(_ rooms: [RoomID]) {
        guard !rooms.isEmpty else { return }
        Task.detached(priority: .utility) { [self] in
            for room in rooms { try? await removeStagedRoom(room) }
        }
    }

    /// Returns the staged rooms, which are left over if the process ended during an import.
    public func stagedRooms() async throws -> [RoomID] { try await read { db in try StagedRooms(db: db).all } }

    /// Returns the conversations that were imported before, recognized by the identifier in the exporting program or,
    /// without one, by the messages at the ends of both imports.
    /// - Parameter staged: The rooms being imported.
    public func earlierImports(of staged: [RoomID]) async throws -> [EarlierImport] {
        try await read { db in
            let search = try EarlierImportSearch(in: db)
            return try staged.compactMap { try search.earlierImport(of: RoomRecord.get($0, in: db)) }
        }
    }
}
