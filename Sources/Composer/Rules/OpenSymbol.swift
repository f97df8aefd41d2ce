/// Finds the Markdown delimiter that a paragraph leaves open (SLK-31).
struct OpenSymbolFinder {
    private let characters: [Character]
    private let symbolCharacters: Set<Character>

    /// - Parameters:
    ///   - paragraph: the text from the start of the paragraph to the end of the last word.
    ///   - symbols: all registered delimiters, whose characters may follow an opening one.
    init(paragraph: String, symbols: [String]) {
        characters = Array(paragraph)
        symbolCharacters = Set(symbols.joined())
    }

    /// Returns the innermost of these delimiters that is open at the end of the paragraph, or `nil`.
    func innermost(of symbols: [String]) -> String? {
        var best: (symbol: String, place: Int)?
        for symbol in symbols {
            guard let position = openPosition(of: Array(symbol)) else { continue }
            if best == nil || position > best!.place { best = (symbol, position) }
        }
        return best?.symbol
    }

    private func openPosition(of symbol: [Character]) -> Int? {
        guard !symbol.isEmpty else { return nil }
        var open: Int?
        var position = 0
        while position + symbol.count <= characters.count {
            guard matches(symbol, at: position) else {
                position += 1
                continue
            }
            if open == nil, canOpen(position, symbol.count) {
                open = position
            } else if open != nil, canClose(position, symbol.count) {
                open = nil
            }
            position += symbol.count
        }
        return open
    }

    /// Whether the delimiter is here, unescaped and not part of a longer run of its character.
    private func matches(_ symbol: [Character], at position: Int) -> Bool {
        let end = position + symbol.count
        guard characters[position..<end].elementsEqual(symbol) else { return false }
        if position > 0, characters[position - 1] == symbol.first || characters[position - 1] == "\\" { return false }
        return end == characters.count || characters[end] != symbol.last
    }

    private func canOpen(_ position: Int, _ count: Int) -> Bool {
        guard position + count < characters.count else { return false }
        let next = characters[position + count]
        guard !next.isBlank, !next.isPunctuation || symbolCharacters.contains(next) else { return false }
        guard position > 0 else { return true }
        let previous = characters[position - 1]
        return previous.isBlank || previous.isPunctuation || symbolCharacters.contains(previous)
    }

    private func canClose(_ position: Int, _ count: Int) -> Bool {
        guard position > 0, !characters[position - 1].isBlank else { return false }
        guard position + count < characters.count else { return true }
        let next = characters[position + count]
        return !next.isWordCharacter
    }
}
