public import Composer

/// Completes emoji for `:` by short code and localized name: an exact code first, followed by its skin tones, then
/// recent emoji, other codes and names.
public nonisolated struct EmojiSource: CompletionSource {
    /// The prefix of the completion rule, `:` by default.
    public let prefix: String
    private let library: EmojiLibrary
    private let limit: Int

    /// - Parameter limit: The maximum number of matches for a query.
    public init(prefix: String = ":", library: EmojiLibrary, limit: Int = 50) {
        self.prefix = prefix
        self.library = library
        self.limit = limit
    }

    @MainActor public func batches(for query: CompletionQuery) -> AsyncThrowingStream<[CompletionEntity], any Error> {
        AsyncThrowingStream { [library, limit, text = query.text] continuation in
            let task = Task.detached(priority: .userInitiated) {
                do {
                    let contents = try await library.loaded()
                    try Task.checkCancellation()
                    continuation.yield(
                        Self.matches(of: text, in: contents, recent: library.recent, tone: library.tone, limit: limit))
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// Records the emoji in the library, which ranks recent ones first.
    @MainActor public func accepted(_ entity: CompletionEntity) {
        if let emoji = entity.replacement { library.noteUse(of: emoji) }
    }

    private static func matches(
        of query: String, in contents: EmojiLibrary.Contents, recent: [String], tone: SkinTone, limit: Int
    ) -> [CompletionEntity] {
        var rows: [CompletionEntity] = []
        if let exact = contents.catalog.emoji(code: query.lowercased()) {
            let row = CompletionEntity(
                id: exact.text, name: query.lowercased(), detail: exact.name,
                matched: [TextRange(location: 0, length: query.utf16.count)])
            rows = [row] + tones(of: exact, as: row, but: tone)
        }
        let lately = recent.prefix(CompletionDirectory.recentLimit).compactMap { text in
            contents.catalog.emoji(text: text).map {
                CompletionEntity(id: $0.text, name: $0.codes[0], detail: $0.name)
            }
        }
        rows += inPickerOrder(
            contents.codes.matches(of: query, recent: lately, limit: limit * 4), after: Set(lately.map(\.id)),
            contents.catalog)
        rows += contents.names.matches(of: query, limit: limit)
        var seen: Set<String> = []
        let unique = rows.filter { seen.insert($0.id).inserted }
        return unique.prefix(limit).map { row in
            guard row.replacement == nil else { return row }
            var row = row
            row.replacement = contents.catalog.emoji(text: row.id)?.text(in: tone) ?? row.id
            return row
        }
    }

    /// Among codes with the same prefix, sorts whole words first, then by picker order rather than alphabetically.
    private static func inPickerOrder(
        _ rows: [CompletionEntity], after recent: Set<String>, _ catalog: EmojiCatalog
    ) -> [CompletionEntity] {
        let first = rows.prefix { recent.contains($0.id) }
        let alike = rows[first.endIndex...].prefix { $0.matched.count == 1 && $0.matched[0].location == 0 }
        let keyed = alike.map { row in
            let next = row.name.utf16.dropFirst(row.matched[0].length).first.flatMap(Unicode.Scalar.init)
            return (row, next?.properties.isAlphabetic == true, catalog.index(of: row.id) ?? .max)
        }
        let sorted = keyed.sorted { ($0.1 ? 1 : 0, $0.2) < ($1.1 ? 1 : 0, $1.2) }
        return first + sorted.map(\.0) + rows[alike.endIndex...]
    }

    /// An emoji in the other skin tones, named by their short codes.
    private static func tones(of emoji: Emoji, as row: CompletionEntity, but preferred: SkinTone) -> [CompletionEntity]
    {
        guard emoji.tones != .none else { return [] }
        return SkinTone.allCases.filter { $0 != preferred }.map { tone in
            var row = row
            row.replacement = emoji.text(in: tone)
            if tone != .none { row.name += "::\(tone.code)" }
            row.id = "\(emoji.text) \(tone.rawValue)"
            return row
        }
    }
}
