/// Finds messages.
public protocol SearchService: Sendable {
    /// The messages that match, the latest first. Deleted ones are not found, edited ones by their present text.
    ///
    /// - Throws: ``ChatError/storage(reason:)``, or `CancellationError` if the task was cancelled. A query that asks
    ///   for nothing finds nothing.
    func search(_ query: SearchQuery) async throws -> SearchPage
    /// Everyone, in any room, one of whose names has words that begin with those of `name`; case and diacritics make
    /// no difference. The user by the name `me`.
    func members(named name: String) async throws -> Set<MemberID>
}
