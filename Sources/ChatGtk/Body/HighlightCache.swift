/// Caches the highlights of the code displayed last, for rows that scroll back into view and rooms that are reopened.
struct HighlightCache {
    struct Key: Hashable {
        var code: String
        var language: String
        var isDark: Bool
    }

    /// The maximum number of entries.
    static let limit = 64

    private var highlights: [Key: [CodeHighlight]] = [:]
    /// Least recently used first.
    private var keys: [Key] = []

    /// - Parameter compute: Called on a cache miss.
    mutating func highlights(of key: Key, _ compute: () -> [CodeHighlight]) -> [CodeHighlight] {
        if let known = highlights[key] { return known }
        let computed = compute()
        if keys.count == Self.limit { highlights[keys.removeFirst()] = nil }
        keys.append(key)
        highlights[key] = computed
        return computed
    }
}
