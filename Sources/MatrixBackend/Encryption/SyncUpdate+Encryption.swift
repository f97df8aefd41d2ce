import ChatCore
import JSONReading
import MatrixCrypto

/// What an answer of a sync says to encryption of its rooms.
extension SyncUpdate {
    private static let setting = "m.room.encryption"

    /// What is said of encryption, in the clear as it always is. Content that is empty, as after a redaction, says that
    /// the room is encrypted.
    var encryptionSettings: [(room: ExactText, content: JSONValue)] {
        rooms.flatMap { room -> [(room: ExactText, content: JSONValue)] in
            let id = ExactText(room.id.rawValue)
            let state = room.state.filter { $0.type == Self.setting && $0.stateKey == "" }.map(\.content)
            let stripped = room.invitation.filter { $0.type == Self.setting && $0.stateKey.isEmpty }.map(\.content)
            return (state + stripped).map { (id, $0) }
        }
    }

    /// What is said of who reads the rooms.
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
        // One after another, as who has left and come back within an answer has left.
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
