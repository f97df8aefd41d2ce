/// Everything that the guide's next reply responds to.
struct GuideOccasion: Equatable, Sendable {
    /// The user's texts since the guide's last message, oldest first, without deleted ones.
    var texts: [String] = []
    /// Whether a message was edited since the guide's last message; ``hasDeletion`` likewise for deletions.
    var hasEdit = false
    var hasDeletion = false
    /// Topics that the user tried elsewhere.
    var tried: Set<GuideTopic.ID> = []
}
