import ChatCore
import Testing

@testable import ChatGtk

/// The cached highlights of recently drawn code.
@MainActor
struct HighlightCacheTests {
    private func key(_ number: Int, isDark: Bool = false) -> HighlightCache.Key {
        HighlightCache.Key(code: "let x = \(number)", language: "swift", isDark: isDark)
    }

    @Test("Highlights are computed once for each code and each of the two color schemes.")
    func computesOnce() {
        var cache = HighlightCache()
        var computed = 0
        for _ in 0..<3 {
            for isDark in [false, true] {
                let highlights = cache.highlights(of: key(1, isDark: isDark)) {
                    computed += 1
                    return [CodeHighlight(range: 0..<3, isBold: isDark)]
                }
                #expect(highlights.map(\.isBold) == [isDark])
            }
        }
        #expect(computed == 2)
    }

    @Test("The oldest highlights are evicted.")
    func forgetsTheOldest() {
        var cache = HighlightCache()
        for number in 0...HighlightCache.limit { _ = cache.highlights(of: key(number)) { [] } }
        var computed: [Int] = []
        for number in [HighlightCache.limit, 1, 0] {
            _ = cache.highlights(of: key(number)) {
                computed.append(number)
                return []
            }
        }
        #expect(computed == [0])
    }
}
