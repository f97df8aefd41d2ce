/// What the guide has to answer, taken together.
struct GuideOccasion: Equatable, Sendable {
    /// The texts said since its last answer, oldest first, without those that were deleted.
    var texts: [String] = []
    /// Whether a message was edited, or deleted, since.
    var hasEdit = false
    var hasDeletion = false
    /// Things that the user was seen trying elsewhere.
    var tried: Set<GuideTopic.ID> = []
}
