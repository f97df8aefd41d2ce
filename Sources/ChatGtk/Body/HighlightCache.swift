/// The highlights of the code that was drawn last: rows that come back and rooms that are opened again have the same.
struct HighlightCache {
    struct Key: Hashable {
        var code: String
        var language: String
        var isDark: Bool
    }

    /// The maximum number of codes.
    static let limit = 64

    private var highlights: [Key: [CodeHighlight]] = [:]
    /// The oldest first.
    private var keys: [Key] = []

    /// - Parameter compute: Called if the highlights are not there.
    mutating func highlights(of key: Key, _ compute: () -> [CodeHighlight]) -> [CodeHighlight] {
        if let known = highlights[key] { return known }
        let computed = compute()
        if keys.count == Self.limit { highlights[keys.removeFirst()] = nil }
        keys.append(key)
        highlights[key] = computed
        return computed
    }
}
