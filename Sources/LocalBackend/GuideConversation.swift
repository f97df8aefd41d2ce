/// The guide's part of a room while the application runs.
struct GuideConversation {
    /// What happened in the room.
    enum Event {
        case sent, edited, deleted
    }

    /// Answering, or thinking about it.
    var task: Task<Void, Never>?
    var isTyping = false
    /// Whether something happened that was not looked at yet.
    var hasNews = false
    /// What is not read from the room's messages.
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
