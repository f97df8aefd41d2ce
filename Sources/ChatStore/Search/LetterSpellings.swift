import ChatCore

/// The ways to write a few letters that a search does not distinguish, for the indexes, which fold case only.
struct LetterSpellings {
    /// The maximum number of combinations. An FTS5 term costs some 20 µs, whether or not any message has it.
    static let maxCount = 128

    private let letters: [Unicode.Scalar]
    /// The equivalents of each letter. The first one has no diacritics.
    private let forms: [[Unicode.Scalar]]

    /// - Parameter forms: Returns the equivalents of a letter, at least one.
    init(
        _ letters: [Unicode.Scalar],
        forms: (Unicode.Scalar) -> [Unicode.Scalar] = { EquivalentScalars.all(of: $0) }
    ) {
        self.letters = letters
        self.forms = letters.map(forms)
    }

    /// Whether the combinations are few enough for all of them. Otherwise at most one letter has diacritics, apart from
    /// what was typed.
    var isComplete: Bool { forms.reduce(1) { $0 * $1.count } <= Self.maxCount }

    /// About the number of spellings.
    var count: Int { isComplete ? forms.reduce(1) { $0 * $1.count } : forms.reduce(1) { $0 + $1.count - 1 } }

    /// The spellings, each once.
    var all: [String] {
        let plain = forms.map { $0[0] }
        var spellings = isComplete ? product : variations(of: plain)
        // Who writes fullwidth letters writes all of them so, except for what was typed.
        spellings += [plain.map { EquivalentScalars.fullwidth($0) }, letters]
        var seen: Set<[Unicode.Scalar]> = []
        return spellings.filter { seen.insert($0).inserted }.map { String(String.UnicodeScalarView($0)) }
    }

    private var product: [[Unicode.Scalar]] {
        forms.reduce([[]]) { beginnings, forms in beginnings.flatMap { beginning in forms.map { beginning + [$0] } } }
    }

    private func variations(of plain: [Unicode.Scalar]) -> [[Unicode.Scalar]] {
        [plain]
            + plain.indices.flatMap { index in
                forms[index].dropFirst().map { form in
                    var variation = plain
                    variation[index] = form
                    return variation
                }
            }
    }
}
