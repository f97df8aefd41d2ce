/// The scalars that ``SearchTerms`` does not distinguish, for searching an index that does.
public enum EquivalentScalars {
    /// Whether matching passes over a scalar, as over most combining marks.
    public static func isIgnored(_ scalar: Unicode.Scalar) -> Bool { FoldedScalars.fold(scalar) == 0 }

    /// Whether a scalar is part of a word.
    public static func isWord(_ scalar: Unicode.Scalar) -> Bool { FoldedScalars.isWord(FoldedScalars.fold(scalar)) }

    /// Returns the scalars that match a scalar, in lower case: first the one without diacritics, and the scalar itself.
    ///
    /// Fullwidth forms are left out (see ``fullwidth(_:)``), as are Latin letters of rare orthographies, of
    /// transliterations and of Vietnamese, whose words are syllables between spaces: the others are few enough to be
    /// combined.
    public static func all(of scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        let unit = FoldedScalars.fold(scalar)
        guard unit != 0, let base = Unicode.Scalar(unit) else { return [scalar] }
        let lowercase = lowercase(scalar)
        let all = classes[unit] ?? [base]
        return lowercase == fullwidth(base) || all.contains(lowercase) ? all : all + [lowercase]
    }

    /// Returns the fullwidth form of a scalar, or the scalar itself if it has none.
    public static func fullwidth(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        guard (0x21...0x7E).contains(scalar.value) else { return scalar }
        return Unicode.Scalar(scalar.value + 0xFEE0) ?? scalar
    }

    /// The scalars below U+2000 by what they are folded to, which comes first.
    private static let classes: [UInt32: [Unicode.Scalar]] = {
        var classes: [UInt32: [Unicode.Scalar]] = [:]
        for value in UInt32(0x80)..<0x2000 where !isRareLatin(value) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let unit = FoldedScalars.fold(scalar)
            guard unit != 0, let base = Unicode.Scalar(unit) else { continue }
            for form in indexedForms(of: scalar) where !classes[unit, default: [base]].contains(form) {
                classes[unit, default: [base]].append(form)
            }
        }
        return classes
    }()

    /// Latin Extended-B without the Romanian s and t, and Latin Extended Additional.
    private static func isRareLatin(_ value: UInt32) -> Bool {
        (0x0180..<0x0250).contains(value) && !(0x0218...0x021B).contains(value) || (0x1E00..<0x1F00).contains(value)
    }

    /// Returns how SQLite's indexes have a scalar: in lower case, unless the letter is newer than SQLite's table.
    private static func indexedForms(of scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        let lowercase = lowercase(scalar)
        return isInUnicode6(scalar) && isInUnicode6(lowercase) ? [lowercase] : [lowercase, scalar]
    }

    /// Whether a scalar was assigned in Unicode 6.1, which SQLite's tables are made from.
    private static func isInUnicode6(_ scalar: Unicode.Scalar) -> Bool {
        guard let age = scalar.properties.age else { return false }
        return (age.major, age.minor) <= (6, 1)
    }

    private static func lowercase(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        let lowercase = scalar.properties.lowercaseMapping.unicodeScalars
        // The dotted capital I becomes two scalars, and stays as it is in the indexes.
        guard lowercase.count == 1, let first = lowercase.first else { return scalar }
        return first == "\u{03C2}" ? "\u{03C3}" : first
    }
}
