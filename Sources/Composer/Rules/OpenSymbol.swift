/// Finds the symbol of Markdown that a paragraph has opened and not closed (SLK-31).
struct OpenSymbolFinder {
    private let characters: [Character]
    private let symbolCharacters: Set<Character>

    /// - Parameters:
    ///   - paragraph: the text from the paragraph's start up to the end of the last word.
    ///   - symbols: every registered symbol: their characters may follow an opening symbol.
    init(paragraph: String, symbols: [String]) {
        characters = Array(paragraph)
        symbolCharacters = Set(symbols.joined())
    }

    /// The innermost of these symbols that is open at the paragraph's end.
    func innermost(of symbols: [String]) -> String? {
        var best: (symbol: String, place: Int)?
        for symbol in symbols {
            guard let place = openPlace(of: Array(symbol)) else { continue }
            if best == nil || place > best!.place { best = (symbol, place) }
        }
        return best?.symbol
    }

    private func openPlace(of symbol: [Character]) -> Int? {
        guard !symbol.isEmpty else { return nil }
        var open: Int?
        var place = 0
        while place + symbol.count <= characters.count {
            guard matches(symbol, at: place) else {
                place += 1
                continue
            }
            if open == nil, canOpen(place, symbol.count) {
                open = place
            } else if open != nil, canClose(place, symbol.count) {
                open = nil
            }
            place += symbol.count
        }
        return open
    }

    /// Neither part of a longer run of its character nor escaped.
    private func matches(_ symbol: [Character], at place: Int) -> Bool {
        let end = place + symbol.count
        guard characters[place..<end].elementsEqual(symbol) else { return false }
        if place > 0, characters[place - 1] == symbol.first || characters[place - 1] == "\\" { return false }
        return end == characters.count || characters[end] != symbol.last
    }

    private func canOpen(_ place: Int, _ count: Int) -> Bool {
        guard place + count < characters.count else { return false }
        let next = characters[place + count]
        guard !next.isBlank, !next.isPunctuation || symbolCharacters.contains(next) else { return false }
        guard place > 0 else { return true }
        let previous = characters[place - 1]
        return previous.isBlank || previous.isPunctuation || symbolCharacters.contains(previous)
    }

    private func canClose(_ place: Int, _ count: Int) -> Bool {
        guard place > 0, !characters[place - 1].isBlank else { return false }
        guard place + count < characters.count else { return true }
        let next = characters[place + count]
        return !next.isWordCharacter
    }
}
