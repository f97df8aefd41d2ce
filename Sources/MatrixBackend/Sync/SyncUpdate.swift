import ChatCore
import ChatStore
import Foundation
import JSONReading
import MatrixCrypto

/// A parsed response of either sync API.
struct SyncUpdate: Equatable, Sendable {
    /// The token of the next request.
    var token: String
    var rooms: [RoomUpdate] = []
    /// The user's push rules, if they changed.
    var pushRules: JSONValue?
    /// The content of `m.direct`, if it changed.
    var direct: JSONValue?
    /// The content of `m.ignored_user_list`, if it changed.
    var ignoredUsers: JSONValue?
    /// Whether the secret storage, or whether the user wants a backup, changed, by this device or another one.
    var changesRecovery = false
    /// The changes for end-to-end encryption; `nil` if they were not requested.
    var crypto: CryptoSync?
    /// Whether this begins with the whole state (an initial sync); until ``isCaughtUp``, rooms are missing.
    var isWhole = false
    /// Whether the server has no further changes from before this response.
    var isCaughtUp = true
    /// The number of invalid events and rooms that were skipped.
    var skipped = 0
}

struct RoomUpdate: Equatable, Sendable {
    enum Membership: Equatable, Sendable {
        case joined, invited, left
    }

    struct Hero: Equatable, Sendable {
        var id: MemberID
        var name: String?
        var avatar: String?
    }

    var id: RoomID
    var membership = Membership.joined
    /// State after the timeline; the last of several events with the same type and key counts.
    var state: [MatrixEvent] = []
    /// The stripped state of an invitation.
    var invitation: [StrippedEvent] = []
    /// The contents of all `m.room.encryption` events, including those that cannot be read otherwise; null for one
    /// without content.
    var encryption: [JSONValue] = []
    /// Whether an event that concerns who reads the room cannot be read.
    var hasUnreadableAudience = false
    /// Oldest first.
    var timeline: [MatrixEvent] = []
    /// Redactions that are not in the timeline.
    var redactions: [MatrixEvent] = []
    /// The token of history before ``timeline``; `nil` if the timeline is not limited.
    var gap: String?
    /// Members whose names make the name of a room without one.
    var heroes: [Hero]?
    /// Typing users; `nil` if unchanged.
    var typing: [MemberID]?
    var receipts: [ReadReceipt] = []
    /// The user's fully-read marker.
    var fullyRead: MessageID?
    /// Whether the user has marked the room as unread; `nil` if unchanged.
    var isMarkedUnread: Bool?
    /// The number of joined members; `nil` if unchanged.
    var joinedCount: Int?
    /// The server's unread counts; `nil` if it did not return any.
    var counted: UnreadCount?

    init(id: RoomID) {
        self.id = id
    }

    /// The event IDs that the update redacts.
    var deleted: Set<MessageID> {
        Set((timeline + redactions).filter { $0.type == "m.room.redaction" }.compactMap(\.redacts))
    }
}
