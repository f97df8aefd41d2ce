import ChatCore
import ChatStore
import JSONReading
import MatrixCrypto

/// Parses what both sync APIs have in common and counts invalid items.
struct SyncParser {
    var skipped = 0

    /// Returns the state events of a timeline in order. A duplicated event keeps its first position and has its last
    /// content.
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

    /// Returns the account data of a type, or `nil` if it is not included.
    static func accountData(_ type: String, in events: JSONValue?) -> JSONValue? {
        events?.array?.last { $0["type"]?.string == type && $0["content"]?.object != nil }?["content"]
    }

    /// Returns whether the account data includes a secret, a part of the secret storage, or the choice of a backup.
    static func changesRecovery(_ events: JSONValue?) -> Bool {
        events?.array?.contains { event in
            guard let type = event["type"]?.string else { return false }
            return type.hasPrefix("m.secret_storage.") || SecretName(rawValue: type) != nil || type == KeyBackup.choice
        } ?? false
    }

    /// Returns the token of the gap before a limited timeline. A server that sends none is asked for it later, by the
    /// event behind the gap: without a gap, what was left out would count as never said.
    static func gap(_ token: JSONValue?, before timeline: [MatrixEvent]) -> String {
        token?.string ?? timeline.first.map { TimelineGap.token(before: $0.id) } ?? ""
    }

    /// Returns whether a room is marked as unread, or `nil` if its account data does not contain the mark. Some clients
    /// use only its unstable name (MSC2867).
    static func markedUnread(in events: JSONValue?) -> Bool? {
        let content = accountData("m.marked_unread", in: events) ?? accountData("com.famedly.marked_unread", in: events)
        return content.map { $0["unread"]?.bool ?? false }
    }

    /// Returns the users of a list of `device_lists`.
    static func users(_ value: JSONValue?) -> [ExactText] {
        (value?.array ?? []).compactMap { MatrixEvent.identifier($0) }.map { ExactText($0) }
    }

    /// Reads the events of a room one by one. Skips and counts malformed ones.
    /// - Parameter areState: Whether it is a list of state, whose events are state even without a key.
    mutating func events(_ value: JSONValue?, areState: Bool = false, of room: inout RoomUpdate) -> [MatrixEvent] {
        var read: [MatrixEvent] = []
        for json in value?.array ?? [] {
            if let event = MatrixEvent(json) {
                read.append(event)
            } else {
                skipped += 1
                room.noteUnreadable(json, isState: areState)
            }
        }
        return read
    }

    mutating func stripped(_ value: JSONValue?) -> [StrippedEvent] {
        let all = value?.array ?? []
        let read = all.compactMap(StrippedEvent.init)
        skipped += all.count - read.count
        return read
    }

    /// Returns a count that can be added to those of all other rooms.
    static func count(_ value: JSONValue?) -> Int? {
        value?.integer.flatMap { $0 >= 0 ? Int(min($0, 1_000_000_000)) : nil }
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

    /// Returns unthreaded receipts and those of the main timeline; receipts in threads are ignored.
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
