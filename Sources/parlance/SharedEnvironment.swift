import ChatArchive
import ChatCore
import ChatViewModels
import Composer
import ComposerGtk
import ComposerSessions
import Foundation
import GtkKit
import LocalBackend
import Spelling

/// What the conversations of all accounts share.
final class SharedEnvironment {
    let settings: Settings?
    let preferences = UserPreferences()
    let privacy = PrivacyPreference()
    private let spellChecker = EnchantChecker()
    let translator = Translator(translate: SharedEnvironment.translate, plural: SharedEnvironment.plural)
    private(set) lazy var emoji = EmojiLibrary(
        recent: settings?.string("recent-emoji").split(separator: " ").map { String($0) } ?? [],
        load: { try EmojiResources.load() },
        onUse: { [settings] in settings?.set("recent-emoji", $0.joined(separator: " ")) })

    /// - Parameter settings: `nil` if the schema is not installed.
    init(settings: Settings?) {
        self.settings = settings
        preferences.onReactionsChosen = { reactions in
            settings?.set("reactions-in-encrypted-rooms", reactions.areUsedInEncryptedRooms)
            settings?.set("reactions-explained", reactions.isExplained)
        }
    }

    /// Returns the environment of one account.
    /// - Parameter local: receives what is imported.
    func environment(
        of backend: any ChatService & RoomArchive.Source, session: AccountSession = AccountSession(),
        importingInto local: LocalBackend, canImport: Bool = false
    ) -> ConversationEnvironment {
        let commands = CommandRegistry(capabilities: backend.capabilities, translator: translator)
        let commandDirectory = CompletionDirectory { commands.index }
        return ConversationEnvironment(
            service: backend, translator: translator, preferences: preferences, session: session,
            commands: commands, emoji: emoji, spellChecker: spellChecker,
            inputController: EmojiCodeController(library: emoji),
            completion: ConversationEnvironment.Completion(
                everyone: translated("Everyone in this room"),
                sources: [EmojiSource(library: emoji), DirectorySource(prefix: "/", directory: commandDirectory)]),
            archive: RoomArchive(
                source: backend, destination: local, emoji: { Self.emojiCatalog?.text(ofCode: $0) }),
            canImport: canImport, encryption: backend as? any EncryptionService)
    }

    /// The languages to check spelling in: those that were chosen, or else the user's.
    var spellingChoice: SpellingChoice {
        let chosen = settings?.strings("spelling-languages") ?? []
        return chosen.isEmpty ? .locales(Localization.languages) : .dictionaries(chosen)
    }

    /// Returns the view model of the languages in the preferences.
    func spellingPreferences() -> SpellingPreferencesViewModel {
        SpellingPreferencesViewModel(
            checker: spellChecker, locales: Localization.languages,
            chosen: settings?.strings("spelling-languages") ?? []
        ) { [settings] in settings?.set("spelling-languages", $0) }
    }

    /// For imports; loaded lazily on the importing thread. Without it, the short codes of emoji stay as they are.
    private nonisolated static let emojiCatalog = try? EmojiResources.load()
    private static let translate: @Sendable (String) -> String = { translated($0) }
    private static let plural: @Sendable (String, String, Int) -> String = { translatedPlural($0, $1, count: $2) }
}
