public import ChatCore
public import Composer
public import ComposerSessions
public import Foundation

/// What the conversations of one account work with, handed over when their coordinator is created.
public struct ConversationEnvironment {
    /// What the composers complete after `@`, `#` and other prefixes.
    public struct Completion {
        /// The description of the `@room` row, such as "Everyone in this room"; `nil` for no such row.
        public var everyone: String?
        /// Sources besides the members and rooms of the account.
        public var sources: [any CompletionSource]

        public init(everyone: String?, sources: [any CompletionSource] = []) {
            self.everyone = everyone
            self.sources = sources
        }
    }

    public let service: any ChatService
    public let time: Timekeeper
    public let now: () -> Date
    public let translator: Translator
    public let preferences: UserPreferences
    public let session: AccountSession
    /// The slash commands; `nil` if a leading slash has no meaning.
    public let commands: CommandRegistry?
    /// Receives the emoji that the user picks.
    public let emoji: EmojiLibrary?
    /// Checks the spelling of composers; `nil` if spelling is never checked.
    public let spellChecker: (any SpellChecker)?
    /// Intercepts events before the composers handle them.
    public let inputController: (any ComposerInputController)?
    /// `nil` if the composers complete nothing.
    public let completion: Completion?
    /// Exports and imports rooms; `nil` if the application does neither.
    public let archive: (any ConversationArchive)?
    /// Whether imported conversations become rooms of this account.
    public let canImport: Bool
    /// End-to-end encryption of the account; `nil` for the local one.
    public let encryption: (any EncryptionService)?
    /// Where the composers say which files they hold.
    public let mediaInUse: MediaInUse
    /// Counts the work that the end of the program would interrupt.
    public let ongoingWork: OngoingWork

    public init(
        service: any ChatService, time: Timekeeper = .continuous, now: @escaping () -> Date = { Date() },
        translator: Translator = .untranslated, preferences: UserPreferences = UserPreferences(),
        session: AccountSession = AccountSession(), commands: CommandRegistry? = nil, emoji: EmojiLibrary? = nil,
        spellChecker: (any SpellChecker)? = nil,
        inputController: (any ComposerInputController)? = nil, completion: Completion? = nil,
        archive: (any ConversationArchive)? = nil, canImport: Bool = false,
        encryption: (any EncryptionService)? = nil, mediaInUse: MediaInUse = .shared,
        ongoingWork: OngoingWork = OngoingWork()
    ) {
        self.service = service
        self.time = time
        self.now = now
        self.translator = translator
        self.preferences = preferences
        self.session = session
        self.commands = commands
        self.emoji = emoji
        self.spellChecker = spellChecker
        self.inputController = inputController
        self.completion = completion
        self.archive = archive
        self.canImport = canImport
        self.encryption = encryption
        self.mediaInUse = mediaInUse
        self.ongoingWork = ongoingWork
    }

    /// See ``BackendCapabilities/plainTexts``.
    var readsPlainTexts: Bool { service.capabilities.contains(.plainTexts) }
}
