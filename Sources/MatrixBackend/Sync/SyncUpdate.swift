import ChatCore
import ChatStore
import Foundation
import JSONReading

/// What one answer of a sync told, in whichever of the two ways it was asked for.
struct SyncUpdate: Equatable, Sendable {
    /// Where to go on.
    var token: String
    var rooms: [RoomUpdate] = []
    /// The user's push rules, if they are others than before.
    var pushRules: JSONValue?
    /// The user's conversations for two, if they are others than before.
    var direct: JSONValue?
    /// Whether all was told, and not only what is new.
    var isWhole = false
    /// Whether nothing is left to be told that had happened by then.
    var isCaughtUp = true
    /// What was no event, or no room, and was left out.
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
    /// State as it is after the timeline: of several events of one kind the last one counts.
    var state: [MatrixEvent] = []
    /// What is told of a room that the user is invited to.
    var invitation: [StrippedEvent] = []
    /// Oldest first.
    var timeline: [MatrixEvent] = []
    /// Deletions that are not in the timeline.
    var redactions: [MatrixEvent] = []
    /// Where to ask for what came before ``timeline``; nil if nothing is missing there.
    var gap: String?
    /// Those after whom a room without a name is called.
    var heroes: [Hero]?
    /// nil if nothing was told of it.
    var typing: [MemberID]?
    var receipts: [ReadReceipt] = []
    /// The newest message that was marked as read to the end.
    var fullyRead: MessageID?
    /// Those who are in the room; nil if nothing was told of it.
    var joinedCount: Int?
    /// What the server counts as unread, nil if it did not say.
    var counted: UnreadCount?

    init(id: RoomID) {
        self.id = id
    }
}

/// Reads parts that both kinds of sync have, and counts what it leaves out.
struct SyncParser {
    private(set) var skipped = 0

    mutating func events(_ value: JSONValue?) -> [MatrixEvent] {
        let all = value?.array ?? []
        let read = all.compactMap(MatrixEvent.init)
        skipped += all.count - read.count
        return read
    }

    /// The state that a timeline tells, in its order: one that comes twice was there the first time, and is as it was told
    /// last.
    static func state(in timeline: [MatrixEvent]) -> [MatrixEvent] {
        var indices: [MessageID: Int] = [:]
        return timeline.reduce(into: []) { state, event in
            guard event.stateKey != nil else { return }
            if let index = indices[event.id] {
                state[index] = event
            } else {
                indices[event.id] = state.count
                state.append(event)
            }
        }
    }

    /// What the user's programs share under a type; nil where nothing was told of it.
    static func accountData(_ type: String, in events: JSONValue?) -> JSONValue? {
        events?.array?.last { $0["type"]?.string == type && $0["content"]?.object != nil }?["content"]
    }

    mutating func stripped(_ value: JSONValue?) -> [StrippedEvent] {
        let all = value?.array ?? []
        let read = all.compactMap(StrippedEvent.init)
        skipped += all.count - read.count
        return read
    }

    static func count(_ value: JSONValue?) -> Int? {
        value?.integer.flatMap { $0 >= 0 ? Int(clamping: $0) : nil }
    }

    mutating func room(_ id: String) -> RoomUpdate? {
        guard let id = MatrixEvent.identifier(.string(id)) else {
            skipped += 1
            return nil
        }
        return RoomUpdate(id: RoomID(id))
    }

    static func typing(_ content: JSONValue?) -> [MemberID]? {
        content?["user_ids"]?.array.map { $0.compactMap { MatrixEvent.identifier($0) }.map { MemberID($0) } }
    }

    /// Receipts of the room itself, and of its main timeline: those of threads say nothing of it.
    static func receipts(_ content: JSONValue?) -> [ReadReceipt] {
        (content?.object ?? [:]).flatMap { event, kinds in
            ["m.read", "m.read.private"].flatMap { kind in
                (kinds[kind]?.object ?? [:]).compactMap { user, receipt -> ReadReceipt? in
                    guard let event = MatrixEvent.identifier(.string(event)),
                        let user = MatrixEvent.identifier(.string(user)), let time = receipt["ts"]?.integer,
                        ["main", nil].contains(receipt["thread_id"]?.string)
                    else { return nil }
                    return ReadReceipt(
                        member: MemberID(user), message: MessageID(event), readAt: MatrixEvent.date(time))
                }
            }
        }.sorted { ($0.readAt, $0.member.rawValue) < ($1.readAt, $1.member.rawValue) }
    }
}
