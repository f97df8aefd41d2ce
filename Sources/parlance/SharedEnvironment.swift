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

/// What the conversations of all accounts share, in each session.
final class SharedEnvironment {
    let settings: Settings?
    let preferences = UserPreferences()
    let privacy = PrivacyPreference()
    /// On the disk from the first moment, whether or not the store can be opened.
    let unsentReplies = UnsentReplies(in: UnsentReplyFolder(DataFolder.replies)) {
        StandardError.write("a reply to a notification could not be stored")
    }
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
            canImport: canImport, encryption: backend as? any EncryptionService, ongoingWork: .shared)
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

    // MARK: Settings

    /// Applies the settings, now and whenever one changes.
    func followSettings() {
        if settings == nil {
            StandardError.write(
                "the settings schema \(ParlanceApplication.id) is not installed: preferences are not kept")
        }
        for key in Self.observedKeys { settings?.onChange(of: key) { [weak self] in self?.applySettings() } }
        applySettings()
    }

    private static let observedKeys =
        [
            "shake-to-clear", "send-key", "read-receipts", "send-typing", "suggest-people",
            "emoji-skin-tone", "check-spelling", "spelling-languages", "notifications-paused", "notification-text",
            "notification-sound", "automatic-size", "play-animations", "private-accounts",
            "encrypt-direct-chats", "reactions-in-encrypted-rooms", "reactions-explained",
        ] + MediaPreferences.Kind.allCases.map(\.setting)

    private func applySettings() {
        guard let settings else { return }
        emoji.tone = SkinTone(rawValue: settings.int("emoji-skin-tone")) ?? .none
        privacy.current = Privacy(
            sharesReadReceipts: settings.string("read-receipts") == "public",
            sharesTyping: settings.bool("send-typing"), encryptsDirectChats: settings.bool("encrypt-direct-chats"))
        privacy.privateAccounts = Set(settings.strings("private-accounts"))
        preferences.reactions = ReactionPreferences(
            areUsedInEncryptedRooms: settings.bool("reactions-in-encrypted-rooms"),
            isExplained: settings.bool("reactions-explained"))
        preferences.media = MediaPreferences(
            choice: { settings.string($0) }, megabytes: settings.int("automatic-size"),
            playsAnimations: settings.bool("play-animations"))
        preferences.writing = WritingPreferences(
            sendKey: settings.string("send-key") == "ctrl-return" ? .ctrlReturn : .return,
            suggestsMembers: settings.bool("suggest-people"), clearsByShaking: settings.bool("shake-to-clear"),
            spelling: settings.bool("check-spelling") ? spellingChoice : nil)
        preferences.notifications = NotificationPreferences(
            isPaused: settings.bool("notifications-paused"),
            content: Self.content(settings.string("notification-text")),
            playsSound: settings.bool("notification-sound"))
    }

    private static func content(_ nick: String) -> NotificationPreferences.Content {
        switch nick {
        case "nothing": .nothing
        case "sender": .sender
        default: .senderAndText
        }
    }
}
