public import ComposerSessions
import GtkKit

/// The bundled emoji data in the user's language.
public nonisolated enum EmojiResources {
    public struct Missing: Error {}

    /// Loads the catalog, in English if none of the user's languages is available. Takes tens of milliseconds: call it
    /// off the main thread.
    public static func load() throws -> EmojiCatalog {
        try load(languages: Localization.languages)
    }

    /// - Parameter languages: Locale names such as `de_AT`, in order of preference.
    static func load(languages: [String]) throws -> EmojiCatalog {
        guard let list = text("emoji"), let english = text("en") else { throw Missing() }
        let names = languages.lazy.compactMap { language -> String? in
            let code = language.prefix { $0.isLetter }
            return code.count == 2 ? text(code) : nil
        }.first
        return try EmojiCatalog(list: list, names: names ?? english, english: english)
    }

    private static func text(_ name: some StringProtocol) -> String? {
        Resources.text("\(ComposerResources.prefix)emoji/\(name).txt")
    }
}
