public import ChatCore
import Foundation

/// What an answer of a sync says of who reads what is written into a room.
public struct AudienceNews: Equatable, Sendable {
    public enum Item: Equatable, Sendable {
        /// The membership of a user, as in `m.room.member`.
        case member(ExactText, String)
        /// The content of `m.room.history_visibility`; `nil` if it has none.
        case visibility(String?)
        /// Something is missing before what follows.
        case gap
        /// The user of this device is not in the room any more.
        case left
    }

    public let room: ExactText
    public var items: [Item]

    public init(room: ExactText, items: [Item]) {
        self.room = room
        self.items = items
    }
}

/// Who reads what is written into a room, as far as this is known.
struct RoomAudience {
    enum Membership: String {
        case join, invite
    }

    private struct Stored: Codable, Equatable {
        let isWhole: Bool
        let visibility: String?
    }

    /// Whether all members are known, so that something may be written.
    var isWhole = false
    var visibility: String?
    /// `nil` until they were read from the disk.
    var members: [ExactText: Membership]?
    /// Counts the changes: a list that was asked for before one of them is not the newest.
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

    /// Whether those who are invited later may be given the key, as they may read what was written before.
    static func isShared(_ visibility: String?) -> Bool {
        // Without the event, it is shared.
        ["shared", "world_readable", nil].contains(visibility)
    }

    /// Those whose devices get the key, the user's own among them.
    func readers(with own: ExactText) -> [ExactText] {
        // Anything that is not known is taken for the strictest.
        let readsInvited = Self.isShared(visibility) || visibility == "invited"
        let others = (members ?? [:]).filter { $0.value == .join || readsInvited }.keys.filter { $0 != own }
        return [own] + others.sorted()
    }

    /// Reads the members from the disk, once.
    mutating func load(_ room: ExactText, from storage: any CryptoStorage) async throws {
        guard members == nil else { return }
        var found: [ExactText: Membership] = [:]
        for record in try await storage.cryptoRecords(.roomMember, owner: room) {
            found[record.key.id] = Membership(rawValue: String(decoding: record.value, as: UTF8.self))
        }
        members = found
    }

    /// Takes all members that there are.
    /// - Returns: Their records.
    mutating func replaceMembers(_ all: [ExactText: String], in room: ExactText) -> [CryptoRecord] {
        generation += 1
        var found: [ExactText: Membership] = [:]
        for (user, text) in all where user.bytes.count <= DeviceKeys.maxIdentifier {
            found[user] = Membership(rawValue: text)
        }
        members = found
        return found.map { CryptoRecord(Self.key(room, $0.key), value: Data($0.value.rawValue.utf8)) }
    }

    /// Takes what a sync says.
    /// - Returns: Whether somebody has gone, or another history may be read, so that the key must not be used any more.
    mutating func take(_ item: AudienceNews.Item, in room: ExactText, _ change: inout CryptoChange) -> Bool {
        generation += 1
        switch item {
        case .member(let user, let text):
            guard user.bytes.count <= DeviceKeys.maxIdentifier else { return false }
            let membership = Membership(rawValue: text)
            members?[user] = membership
            if let membership {
                change.merge(
                    CryptoChange(put: [CryptoRecord(Self.key(room, user), value: Data(membership.rawValue.utf8))]))
            } else {
                change.merge(CryptoChange(removed: [Self.key(room, user)]))
            }
            // Who knocks had no key, or is known to have left.
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
