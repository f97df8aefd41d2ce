import ChatCore
import JSONReading
import MatrixCrypto

/// What a sync response says of the encryption of rooms.
extension SyncUpdate {
    private static let setting = "m.room.encryption"

    /// The rooms' `m.room.encryption` state, which is always in the clear. Empty content, as after a redaction, counts
    /// as encrypted.
    var encryptionSettings: [(room: ExactText, content: JSONValue)] {
        rooms.flatMap { room -> [(room: ExactText, content: JSONValue)] in
            let id = ExactText(room.id.rawValue)
            let state = room.state.filter { $0.type == Self.setting && $0.stateKey == "" }.map(\.content)
            let stripped = room.invitation.filter { $0.type == Self.setting && $0.stateKey.isEmpty }.map(\.content)
            return (state + stripped).map { (id, $0) }
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
    fileprivate var audienceItems: [AudienceNews.Item] {
        guard membership == .joined else { return [.left] }
        var items: [AudienceNews.Item] = gap == nil ? [] : [.gap]
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
            guard let membership = event.content["membership"]?.string else { return nil }
            self = .member(ExactText(user), membership)
        case ("m.room.history_visibility", ""?):
            self = .visibility(event.content["history_visibility"]?.string)
        default: return nil
        }
    }
}
