/// The spelling languages. A word is correct if it is correct in any of them.
public nonisolated enum SpellingChoice: Hashable, Sendable {
    /// The user's languages, as locale names in order of preference, each with the closest dictionary.
    case locales([String])
    /// These dictionaries, if they are installed.
    case dictionaries([String])
}

nonisolated extension SpellingChoice {
    /// Returns the installed dictionaries to use, and the languages without one.
    public func resolved(among installed: [String]) -> (dictionaries: [String], missing: [String]) {
        switch self {
        case .dictionaries(let chosen):
            return (chosen.filter { installed.contains($0) }, chosen.filter { !installed.contains($0) })
        case .locales(let names):
            var (found, missing): ([String], [String]) = ([], [])
            for locale in Self.languages(of: names) {
                if let dictionary = Self.dictionary(for: locale, among: installed) {
                    found.append(dictionary)
                } else {
                    missing.append(locale)
                }
            }
            return (found, missing)
        }
    }

    /// The first locale of each language, without its encoding. If only the C locale is set, English.
    private static func languages(of names: [String]) -> [String] {
        var locales: [String] = []
        for name in names {
            let locale = name.prefix { $0 != "." && $0 != "@" }
            guard locale != "C", locale != "POSIX", !locale.isEmpty else { continue }
            if !locales.contains(where: { base(of: $0) == base(of: String(locale)) }) { locales.append(String(locale)) }
        }
        return locales.isEmpty ? ["en_US"] : locales
    }

    private static func dictionary(for locale: String, among installed: [String]) -> String? {
        let base = base(of: locale)
        let ofLanguage = installed.filter { self.base(of: $0) == base }
        let likely = [locale, base, "\(base)_\(base.uppercased())", "\(base)_US"]
        return likely.first { ofLanguage.contains($0) } ?? ofLanguage.min()
    }

    static func base(of locale: String) -> String { String(locale.prefix { $0 != "_" && $0 != "-" }) }
}
