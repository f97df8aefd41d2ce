import ChatCore
import GRDB

/// The members of a room.
extension RoomSync {
    /// Stores members.
    /// - Returns: The new and changed ones.
    func put(_ members: [Member], into record: RoomRecord) throws -> [Member] {
        var others: [Member] = []
        for member in members {
            let existing = try MemberTable(db: db).member(member.id, of: record)
            var member = member
            // Leave events usually carry no profile: keep the name and avatar, which earlier messages are shown with.
            if member.hasLeft, let existing {
                if member.displayName == member.id.rawValue { member.displayName = existing.displayName }
                member.avatar = member.avatar ?? existing.avatar
            }
            if let existing,
                (existing.displayName, existing.hasLeft, existing.avatar)
                    == (member.displayName, member.hasLeft, member.avatar)
            {
                continue
            }
            try MemberTable(db: db).put(member, into: record)
            others.append(member)
        }
        return others
    }

    /// Removes the display names and avatars of members.
    /// - Returns: The members who had one.
    func unname(_ members: [MemberID], in record: RoomRecord) throws -> [Member] {
        try members.compactMap { id in
            guard var member = try MemberTable(db: db).member(id, of: record),
                member.displayName != id.rawValue || member.avatar != nil
            else { return nil }
            member.displayName = id.rawValue
            member.avatar = nil
            try MemberTable(db: db).put(member, into: record)
            return member
        }
    }

    /// Returns a removal with the name of the room, and with the stored name of who did it if the sync has none.
    func named(_ removal: RoomRemoval, in record: RoomRecord) throws -> RoomRemoval {
        var removal = removal
        removal.roomName = record.room.name
        if removal.actorName == removal.actor.rawValue,
            let actor = try MemberTable(db: db).member(removal.actor, of: record)
        {
            removal.actorName = actor.displayName
        }
        return removal
    }

    /// Returns the last entry of each member, or `nil` for an empty list.
    static func latest(_ members: [Member]) -> [Member]? {
        var indices: [MemberID: Int] = [:]
        var latest: [Member] = []
        for member in members {
            if let index = indices[member.id] {
                latest[index] = member
            } else {
                indices[member.id] = latest.count
                latest.append(member)
            }
        }
        return latest.isEmpty ? nil : latest
    }

    /// Adds the sender of a message as a former member if it is unknown.
    func put(sender: MemberID, into record: RoomRecord) throws -> [Member] {
        guard try !MemberTable(db: db).contains(sender, in: record) else { return [] }
        return try put(
            [Member(id: sender, displayName: sender.rawValue, kind: .person, hasLeft: true)], into: record)
    }
}
