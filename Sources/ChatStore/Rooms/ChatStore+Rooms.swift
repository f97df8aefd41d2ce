public import ChatCore
import Foundation
import GRDB

extension ChatStore {
    /// Returns the listed rooms in a scope; all of them most recently active first, others in any order. The cost depends
    /// neither on the length of their histories nor on the number of other rooms.
    public func roomSummaries(of rooms: RoomScope = .all) async throws -> [RoomSummary] {
        // Read drafts before rooms: if one is sent in between, its token matches `sentDraft` and it is omitted.
        let drafts = try await readPending { db in try DraftTable(db: db).previews(of: rooms) }
        return try await read { db in
            try RoomTable(db: db).summaries(of: rooms).map { summary, sentDraft in
                var summary = summary
                if let draft = drafts[summary.id], draft.token != sentDraft, !draft.preview.isEmpty {
                    summary.draftPreview = draft.preview
                }
                return summary
            }
        }
    }

    /// How other users removed the user from stored rooms, as a sync removes these. What nobody observes waits for an
    /// observer.
    public func roomRemovals() -> AsyncStream<RoomRemoval> { removalFeed.values() }

    /// Returns a room with at most `limit` of its newest messages, or `nil` if there is no such room.
    public func snapshot(of room: RoomID, limit: Int) async throws -> RoomSnapshot? {
        try await read { db in
            guard let record = try RoomRecord.find(room, in: db) else { return nil }
            let page = try MessageQuery(room: record).page(before: nil, limit: limit, in: db)
            // The marker may be at a silent event or at a hidden message: use the last message up to it.
            let fullyReadMarker = try record.fullyReadPosition.flatMap { position in
                try EventPositions(record: record, db: db).lastShownMessage(before: position + 1)
            }
            return RoomSnapshot(
                room: record.room, page: page, members: try MemberTable(db: db).members(of: record),
                fullyReadMarker: fullyReadMarker)
        }
    }

    /// Returns a room.
    /// - Throws: ``ChatError/notFound``.
    public func room(_ id: RoomID) async throws -> Room {
        try await read { db in try RoomRecord.get(id, in: db).room }
    }

    /// Whether the room is stored. Throws on read errors instead of returning `false`.
    public func hasRoom(_ room: RoomID) async throws -> Bool {
        try await read { db in try RoomRecord.find(room, in: db) != nil }
    }

    /// Returns a current or former member of the room, or `nil` if the user never was one.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func member(_ id: MemberID, of room: RoomID) async throws -> Member? {
        try await read { db in try MemberTable(db: db).member(id, of: RoomRecord.get(room, in: db)) }
    }

    /// Returns all members in the order they joined, including those who left.
    /// - Throws: ``ChatError/notFound``.
    public func members(of room: RoomID) async throws -> [Member] {
        try await read { db in try MemberTable(db: db).members(of: RoomRecord.get(room, in: db)) }
    }

    /// Returns those of the members whom the room has never had.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func unknown(_ members: [Member], of room: RoomID) async throws -> [Member] {
        try await read { db in
            let (record, table) = (try RoomRecord.get(room, in: db), MemberTable(db: db))
            return try members.filter { try !table.contains($0.id, in: record) }
        }
    }

    /// Returns the rooms that the user is a current member of.
    public func rooms(with member: MemberID) async throws -> [RoomID] {
        try await read { db in try MemberTable(db: db).rooms(with: member) }
    }

    /// Creates a room.
    public func createRoom(_ new: NewRoom) async throws {
        try await write { db in try RoomTable(db: db).insert(new) }
    }

    /// Creates rooms once in the lifetime of the store, even if they are left later.
    /// - Parameter occasion: The name of the setting that records the creation.
    /// - Returns: Whether they were created by this call.
    public func createRooms(_ new: [NewRoom], once occasion: String) async throws -> Bool {
        try await write { db in
            guard try SettingTable(db: db).setOnce(occasion) else { return false }
            let table = RoomTable(db: db)
            for room in new {
                // A repair may have lost the setting but recovered the room.
                if try room.room.kind == .group || !table.hasRoom(of: room.room.kind) { try table.insert(room) }
            }
            return true
        }
    }

    /// Renames a room.
    /// - Throws: ``ChatError/notFound``.
    public func renameRoom(_ room: RoomID, to name: String) async throws {
        try await write { db in try RoomTable(db: db).rename(RoomRecord.get(room, in: db), to: name) }
    }

    /// Deletes a room with its unsent content at once, and leaves its history to ``removeStagedRoom(_:)``, for which
    /// other writes need not wait. Until then the history belongs to a staged room, which ``stagedRooms()`` lists after
    /// a restart.
    /// - Returns: The identifier of that room. The removed one's is free for another room.
    /// - Throws: ``ChatError/notFound``.
    public func stageRemoval(of room: RoomID) async throws -> RoomID {
        let staged = RoomID("removed-\(UUID().uuidString.lowercased())")
        try await removing(room) { db in try RoomTable(db: db).stage(RoomRecord.get(room, in: db), as: staged) }
        return staged
    }

    /// Deletes a room with its history and unsent content. A long history takes seconds, for which other writes wait.
    /// - Throws: ``ChatError/notFound``.
    public func removeRoom(_ room: RoomID) async throws {
        try await removing(room) { db in try RoomTable(db: db).remove(RoomRecord.get(room, in: db)) }
    }

    /// Removes a room's unsent content before and after it is removed itself.
    private func removing(
        _ room: RoomID, _ remove: @escaping @Sendable (Database) throws -> Void
    ) async throws {
        try await requireRoom(room)
        // Delete unsent data first: after a crash in between, it must not outlive its room.
        try await removeUnsent(of: [room])
        try await write(remove)
        // Again, for what was written while the room was still there.
        try? await removeUnsent(of: [room])
    }

    /// Adds a member to the room, or adds a former one again.
    /// - Throws: ``ChatError/notFound``.
    public func addMember(_ member: Member, to room: RoomID) async throws {
        try await write { db in try MemberTable(db: db).put(member, into: RoomRecord.get(room, in: db)) }
    }

    /// Removes a member from the room; the member's messages stay. A guide room without its guide becomes a group.
    /// - Returns: The members after the change.
    /// - Throws: ``ChatError/notFound`` if there is no such room or current member.
    public func removeMember(_ member: MemberID, from room: RoomID) async throws -> [Member] {
        try await write { db in
            let record = try RoomRecord.get(room, in: db)
            let table = MemberTable(db: db)
            try table.markLeft(member, from: record)
            let members = try table.members(of: record)
            if record.room.kind == .guide, !members.contains(where: { $0.kind == .guide && !$0.hasLeft }) {
                try RoomTable(db: db).setKind(.group, of: record)
            }
            return members
        }
    }

    /// Renames a member in all rooms.
    /// - Returns: The rooms in which the name changed.
    public func renameMember(_ member: MemberID, to name: String) async throws -> [RoomID] {
        try await write { db in try MemberTable(db: db).rename(member, to: name) }
    }
}
