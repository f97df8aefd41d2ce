import CGtk
import Sentences

/// The process locale and the gettext domain.
public enum Localization {
    /// Sets the process locale and the gettext domain that ``translated(_:)`` uses.
    public static func adopt(domain: String, folder: String) {
        setlocale(LC_ALL, "")
        bindtextdomain(domain, folder)
        bind_textdomain_codeset(domain, "UTF-8")
        textdomain(domain)
    }

    /// The user's locale names in order of preference, for example `de_AT`, `de`, `C`.
    public nonisolated static var languages: [String] {
        guard let names = g_get_language_names() else { return [] }
        return sequence(state: 0) { index in
            defer { index += 1 }
            return names[index].map { String(cString: $0) }
        }.map { $0 }
    }

    /// Returns a whole number with the locale's digits and grouping.
    public nonisolated static func number(_ value: Int) -> String {
        // 64 bits in groups of two digits, each digit and separator of up to 4 bytes.
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            // glibc: `'` groups digits, `I` replaces them by the locale's own.
            _ = withVaList([value]) { vsnprintf(buffer.baseAddress!, buffer.count, "%'Ild", $0) }
            return String(cString: buffer.baseAddress!)
        }
    }
}

/// Returns the translation from the default gettext domain, or `text` itself if there is none.
public nonisolated func translated(_ text: String) -> String {
    // Without a translation, gettext returns the pointer passed in, which is valid only inside this closure.
    text.withCString { String(cString: g_dgettext(nil, $0)) }
}

/// Returns the translation with each `{name}` in `values` replaced.
public nonisolated func translated(_ text: String, _ values: [String: String]) -> String {
    filled(translated(text), values)
}

/// Returns the plural form for `count` in the user's language, with `{count}` and each name in `values` replaced.
public nonisolated func translatedPlural(
    _ one: String, _ many: String, count: Int, _ values: [String: String] = [:]
) -> String {
    let text = one.withCString { one in
        many.withCString { many in String(cString: g_dngettext(nil, one, many, gulong(clamping: count))) }
    }
    return filled(text, values.merging(["count": Localization.number(count)]) { given, _ in given })
}

/// Values are isolated in right-to-left languages.
private nonisolated func filled(_ text: String, _ values: [String: String]) -> String {
    let sentence = Sentence(text)
    let isRightToLeft = sentence.isRightToLeft ?? Sentence(translated(Sentence.sample)).isRightToLeft
    return sentence.filled(values, isolating: isRightToLeft ?? false)
}
