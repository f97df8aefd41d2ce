public import ChatViewModels
import GtkKit

/// The emoji that the program carries, in the user's language.
public nonisolated enum EmojiResources {
    public struct Missing: Error {}

    /// Reads them; takes some hundredths of a second, so not on the main thread.
    /// English where none of the user's languages is there.
    public static func load() throws -> EmojiCatalog {
        try load(languages: Localization.languages)
    }

    /// - Parameter languages: as in `de_AT`, the best first.
    static func load(languages: [String]) throws -> EmojiCatalog {
        guard let list = text("emoji"), let english = text("en") else { throw Missing() }
        let names = languages.lazy.compactMap { language -> String? in
            let code = language.prefix { $0.isLetter }
            return code.count == 2 ? text(code) : nil
        }.first
        return try EmojiCatalog(list: list, names: names ?? english, english: english)
    }

    private static func text(_ name: some StringProtocol) -> String? {
        Resources.text("\(Resource.prefix)emoji/\(name).txt")
    }
}
