import ChatCore
import JSONReading
import MatrixCrypto

/// What a sync response says of the encryption of rooms.
extension SyncUpdate {
    /// The rooms' `m.room.encryption` state, which is always in the clear. Empty content, as after a redaction, counts
    /// as encrypted.
    ///
    /// Not of rooms to which the user is only invited: the inviter's server may make their state up, and what is
    /// recorded stays, as an algorithm that prevents sending.
    var encryptionSettings: [(room: ExactText, content: JSONValue)] {
        rooms.filter { $0.membership != .invited }.flatMap { room in
            room.encryption.map { (room: ExactText(room.id.rawValue), content: $0) }
        }
    }

    /// Changes of members and of history visibility.
    var audienceNews: [AudienceNews] {
        rooms.compactMap { room in
            let items = room.audienceItems
            return items.isEmpty ? nil : AudienceNews(room: ExactText(room.id.rawValue), items: items)
        }
    }
}

extension RoomUpdate {
    /// The messages that cannot be read, and those that an unreadable event edits.
    var sealedMessages: [MessageID] {
        timeline.flatMap { event -> [MessageID] in
            guard case .sealed = event.protection else { return [] }
            return [event.id, event.editedMessage].compactMap(\.self)
        }
    }

    /// Notes which of the server's events set the room's encryption, whatever else they contain: a room must not count
    /// as unencrypted because ``MatrixEvent`` rejects the event.
    /// - Parameter areState: Whether it is a list of state, whose events are state even without a key.
    mutating func noteEncryption(in events: JSONValue?, areState: Bool) {
        for json in events?.array ?? []
        where json["type"]?.string == "m.room.encryption" && Self.concernsRoom(json, isState: areState) {
            encryption.append(json["content"] ?? .null)
        }
    }

    /// Notes an event that ``MatrixEvent`` rejects, if it may change who reads the room.
    mutating func noteUnreadable(_ json: JSONValue, isState: Bool) {
        switch json["type"]?.string {
        case "m.room.member" where isState || json["state_key"] != nil: hasUnreadableAudience = true
        case "m.room.history_visibility" where Self.concernsRoom(json, isState: isState): hasUnreadableAudience = true
        default: break
        }
    }

    /// Whether the state key is empty. One that is no text counts as well.
    private static func concernsRoom(_ json: JSONValue, isState: Bool) -> Bool {
        guard let key = json["state_key"] else { return isState }
        return key.string?.isEmpty ?? true
    }

    fileprivate var audienceItems: [AudienceNews.Item] {
        guard membership == .joined else { return [.left] }
        // After a gap, the server is asked for all members.
        var items: [AudienceNews.Item] = gap == nil && !hasUnreadableAudience ? [] : [.gap]
        // In order: a member who left and rejoined within one response has left.
        let inTimeline = Set(timeline.map(\.id))
        items += state.filter { !inTimeline.contains($0.id) }.compactMap(AudienceNews.Item.init)
        items += timeline.compactMap(AudienceNews.Item.init)
        return items
    }
}

extension AudienceNews.Item {
    fileprivate init?(_ event: MatrixEvent) {
        switch (event.type, event.stateKey) {
        case ("m.room.member", let user?):
            self = event.content["membership"]?.string.map { Self.member(ExactText(user), $0) } ?? .gap
        case ("m.room.history_visibility", ""?):
            let visibility = event.content["history_visibility"]
            self = visibility != nil && visibility?.string == nil ? .gap : .visibility(visibility?.string)
        default: return nil
        }
    }
}
