import CGtk

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
}

/// Returns the translation from the default gettext domain, or `text` itself if there is none.
public nonisolated func translated(_ text: String) -> String {
    // Without a translation, gettext returns the pointer passed in, which is valid only inside this closure.
    text.withCString { String(cString: g_dgettext(nil, $0)) }
}

/// Returns the plural form for `count` in the user's language.
public nonisolated func translated(_ one: String, _ many: String, count: Int) -> String {
    one.withCString { one in
        many.withCString { many in String(cString: g_dngettext(nil, one, many, gulong(clamping: count))) }
    }
}
