/// A part of a selection to be wrapped in delimiters.
struct PairSegment {
    /// The range between the delimiters.
    var content: TextRange
    var isWrapped: Bool

    /// Looks for the delimiters inside and outside of either end of the range.
    init(_ range: TextRange, symbol: String, in document: ComposerDocument) {
        let size = symbol.utf16.count
        for start in [range.location, range.location + size] {
            for end in [range.end, range.end - size] where start <= end {
                let inner = TextRange(start: start, end: end)
                guard document.aligned(inner) == inner, Self.isWrapped(inner, symbol, document) else { continue }
                content = inner
                isWrapped = true
                return
            }
        }
        content = range
        isWrapped = false
    }

    private static func isWrapped(_ range: TextRange, _ symbol: String, _ document: ComposerDocument) -> Bool {
        let size = symbol.utf16.count
        guard range.location >= size, range.end + size <= document.length else { return false }
        let before = document.text(in: TextRange(location: range.location - size, length: size))
        let after = document.text(in: TextRange(location: range.end, length: size))
        guard before == symbol, after == symbol else { return false }
        return runFits(document, range.location, symbol, -1) && runFits(document, range.end, symbol, 1)
    }

    /// `*` doesn't match in `**`, but does in `***`, which combines both.
    private static func runFits(_ document: ComposerDocument, _ offset: Int, _ symbol: String, _ step: Int) -> Bool {
        guard let symbolCharacter = symbol.first, symbol.allSatisfy({ $0 == symbolCharacter }) else { return true }
        var run = 0
        var position = offset
        while run <= 4,
            (step < 0 ? document.character(before: position) : document.character(at: position)) == symbolCharacter
        {
            run += 1
            position = step < 0 ? document.clusterBoundary(before: position) : document.clusterBoundary(after: position)
        }
        if run == symbol.count { return true }
        return "*_".contains(symbolCharacter) && run == 3
    }
}
