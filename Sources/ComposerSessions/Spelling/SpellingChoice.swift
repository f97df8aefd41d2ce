/// The languages in which words are checked. A word is right if it is right in one of them.
public nonisolated enum SpellingChoice: Hashable, Sendable {
    /// The user's languages, as locale names in order of preference: each by the dictionary that comes closest.
    case locales([String])
    /// These dictionaries, as far as they are installed.
    case dictionaries([String])
}

nonisolated extension SpellingChoice {
    /// Returns the dictionaries to use of those that are installed, and the languages that have none.
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

    /// The first locale of each language, without encoding. Where only the C locale is set, the program speaks English.
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
