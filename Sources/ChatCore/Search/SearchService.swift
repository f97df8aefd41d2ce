/// Searches messages.
public protocol SearchService: Sendable {
    /// Returns the matching messages, latest first. Deleted messages never match, edited ones match by their current
    /// text.
    ///
    /// - Throws: ``ChatError/storage(reason:)``, or `CancellationError` if the task was canceled. An empty query
    ///   has no results.
    func search(_ query: SearchQuery) async throws -> SearchPage
    /// Returns all members of any room with a name whose words begin with those of `name`, ignoring case and
    /// diacritics. `me` stands for the user.
    func members(named name: String) async throws -> Set<MemberID>
}
