import CGtk

/// The user's language, from the environment.
public enum Localization {
    /// Sets the process's locale and the gettext domain that ``translated(_:)`` uses.
    public static func adopt(domain: String, folder: String) {
        setlocale(LC_ALL, "")
        bindtextdomain(domain, folder)
        bind_textdomain_codeset(domain, "UTF-8")
        textdomain(domain)
    }

    /// What the user understands, the best first: `de_AT`, `de`, `C`.
    public nonisolated static var languages: [String] {
        guard let names = g_get_language_names() else { return [] }
        return sequence(state: 0) { index in
            defer { index += 1 }
            return names[index].map { String(cString: $0) }
        }.map { $0 }
    }
}

/// Text in the user's language, from the default gettext domain; the text itself where there is no translation.
public nonisolated func translated(_ text: String) -> String {
    // Without a translation gettext answers with the pointer it was given, which lives no longer than this closure.
    text.withCString { String(cString: g_dgettext(nil, $0)) }
}

/// The form for `count` in the user's language.
public nonisolated func translated(_ one: String, _ many: String, count: Int) -> String {
    one.withCString { one in
        many.withCString { many in String(cString: g_dngettext(nil, one, many, gulong(clamping: count))) }
    }
}
