/// The transient state of the guide in a room.
struct GuideConversation {
    /// Something the user did in the room.
    enum Event {
        case sent, edited, deleted
    }

    /// Waits before a reply and sends it.
    var task: Task<Void, Never>?
    /// Whether anything has happened since the guide last composed a reply.
    var hasNews = false
    /// What cannot be derived from the room's messages.
    var occasion = GuideOccasion()

    mutating func note(_ event: Event) {
        hasNews = true
        switch event {
        case .sent: break
        case .edited: occasion.hasEdit = true
        case .deleted: occasion.hasDeletion = true
        }
    }
}
