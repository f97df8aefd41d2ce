public import ChatCore
import Foundation

/// The changes in a sync that affect who can read messages sent to a room.
public struct AudienceNews: Equatable, Sendable {
    public enum Item: Equatable, Sendable {
        /// A user's membership, from `m.room.member`.
        case member(ExactText, String)
        /// The content of `m.room.history_visibility`; `nil` if it has none.
        case visibility(String?)
        /// Events are missing before what follows.
        case gap
        /// The local user is no longer in the room.
        case left
    }

    public let room: ExactText
    public var items: [Item]

    public init(room: ExactText, items: [Item]) {
        self.room = room
        self.items = items
    }
}

/// The users who can read messages sent to a room, as far as known.
struct RoomAudience {
    enum Membership: String {
        case join, invite
    }

    private struct Stored: Codable, Equatable {
        let isWhole: Bool
        let visibility: String?
    }

    /// Whether all members are known, which sending requires.
    var isWhole = false
    var visibility: String?
    /// `nil` until loaded from the storage.
    var members: [ExactText: Membership]?
    /// Incremented by each change: a member list requested before a change is outdated.
    var generation: UInt64 = 0

    static func key(_ room: ExactText) -> CryptoRecord.Key { CryptoRecord.Key(.roomAudience, owner: room) }
    static func key(_ room: ExactText, _ user: ExactText) -> CryptoRecord.Key {
        CryptoRecord.Key(.roomMember, owner: room, id: user)
    }

    init() {}

    init(record: CryptoRecord) throws {
        let stored = try JSONDecoder().decode(Stored.self, from: record.value)
        isWhole = stored.isWhole
        visibility = stored.visibility
    }

    func record(of room: ExactText) throws -> CryptoRecord {
        CryptoRecord(Self.key(room), value: try JSONEncoder().encode(Stored(isWhole: isWhole, visibility: visibility)))
    }

    /// Whether users invited later may receive the key, as they may read earlier messages.
    static func isShared(_ visibility: String?) -> Bool {
        // Without the event, the visibility is `shared`.
        ["shared", "world_readable", nil].contains(visibility)
    }

    /// The users whose devices receive the key, including the local user.
    func readers(with own: ExactText) -> [ExactText] {
        // Unknown values count as the strictest one.
        let readsInvited = Self.isShared(visibility) || visibility == "invited"
        let others = (members ?? [:]).filter { $0.value == .join || readsInvited }.keys.filter { $0 != own }
        return [own] + others.sorted()
    }

    /// Loads the members from the storage, unless they are loaded already. With a damaged one, not all are known.
    mutating func load(_ room: ExactText, from storage: any CryptoStorage) async throws {
        guard members == nil else { return }
        var found: [ExactText: Membership] = [:]
        for record in try await storage.cryptoRecords(.roomMember, owner: room) {
            let membership = Membership(rawValue: String(decoding: record.value, as: UTF8.self))
            found[record.key.id] = membership
            if membership == nil { isWhole = false }
        }
        members = found
    }

    /// Replaces the members with a full list.
    /// - Returns: The records to store.
    mutating func replaceMembers(_ all: [ExactText: String], in room: ExactText) -> [CryptoRecord] {
        generation += 1
        var found: [ExactText: Membership] = [:]
        for (user, text) in all where user.bytes.count <= DeviceKeys.maxIdentifier {
            found[user] = Membership(rawValue: text)
        }
        members = found
        return found.map { CryptoRecord(Self.key(room, $0.key), value: Data($0.value.rawValue.utf8)) }
    }

    /// Has all members requested before the next message.
    mutating func outdate() {
        generation += 1
        isWhole = false
    }

    /// Applies a change from a sync.
    /// - Parameter records: Receives what is to be stored; `nil` for what is to be removed.
    /// - Returns: Whether the key must not be used any more: a user has left, or the history visibility has changed.
    mutating func take(
        _ item: AudienceNews.Item, in room: ExactText, _ records: inout [CryptoRecord.Key: CryptoRecord?]
    ) -> Bool {
        generation += 1
        switch item {
        case .member(let user, let text):
            guard user.bytes.count <= DeviceKeys.maxIdentifier else { return false }
            let membership = Membership(rawValue: text)
            members?[user] = membership
            let key = Self.key(room, user)
            records.updateValue(membership.map { CryptoRecord(key, value: Data($0.rawValue.utf8)) }, forKey: key)
            // A user who knocks never had the key, or is already known to have left.
            return membership == nil && text != "knock"
        case .visibility(let text):
            defer { visibility = text }
            return Self.isShared(text) != Self.isShared(visibility)
        case .gap, .left:
            isWhole = false
            return false
        }
    }
}
