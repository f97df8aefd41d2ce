import ChatTestSupport
import Composer
import ComposerSessions
import Foundation
import Testing

/// Emoji shortcodes (`:name:`) from the bundled catalogs.
@MainActor @Suite(.timeLimit(.minutes(10))) struct EmojiTests {
    private nonisolated static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../resources/emoji").standardizedFileURL

    private nonisolated static func file(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name + ".txt"), encoding: .utf8)
    }

    private nonisolated static func catalog(_ language: String) throws -> EmojiCatalog {
        try EmojiCatalog(list: file("emoji"), names: file(language), english: file("en"))
    }

    private func makeSession(
        _ library: EmojiLibrary, _ configuration: ComposerConfiguration? = nil
    ) -> ComposerSession {
        let session = ComposerSession(
            configuration: configuration ?? Self.unthrottled, completionSources: [EmojiSource(library: library)],
            inputController: EmojiCodeController(library: library))
        session.handle(.focus(true))
        return session
    }

    private static var unthrottled: ComposerConfiguration {
        var configuration = ComposerConfiguration.preset(.parlance)
        configuration.completion.resultsThrottle = 0
        return configuration
    }

    private func type(_ text: String, into session: ComposerSession) async {
        for character in text { session.handle(.insert(String(character), origin: .typed)) }
        await eventually { session.composer.completion.map { $0.openQuery == nil } ?? true }
    }

    @Test(arguments: ["ar", "de", "en", "fr", "hi", "ja", "ru", "zh"])
    func everyLanguageNamesEveryEmoji(language: String) throws {
        let catalog = try Self.catalog(language)
        #expect(catalog.emoji.count > 1800)
        #expect(catalog.emoji.allSatisfy { !$0.name.isEmpty && !$0.codes.isEmpty })
        #expect(Set(catalog.emoji.map(\.text)).count == catalog.emoji.count)
        for code in ["tada", "+1", "thumbsup", "wave", "heart", "smile"] { #expect(catalog.emoji(code: code) != nil) }
    }

    @Test func emojiAreFoundInTheUsersLanguageAndEnglish() async throws {
        let library = EmojiLibrary { try Self.catalog("de") }
        for query in [":tada", ":konfetti", ":party_p", ":Party"] {
            let session = makeSession(library)
            await type(query, into: session)
            #expect(session.composer.completion?.items.first?.replacement == "🎉", "\(query)")
        }
    }

    /// Each case: the query, and the emoji that Return inserts.
    @Test(arguments: [(":smile", "😄"), (":+1", "👍"), (":heart", "❤️"), (":wave", "👋"), (":SMILE", "😄")])
    func exactShortcodeComesFirst(query: String, emoji: String) async {
        let library = EmojiLibrary(recent: ["😃", "💔"]) { try Self.catalog("en") }
        let session = makeSession(library)
        await type(query, into: session)
        #expect(session.composer.completion?.items.first?.replacement == emoji)
        session.handle(.key(KeyChord("Tab")))
        #expect(session.document.text == emoji + " " && session.document.mentions.isEmpty)
        #expect(library.recent.first == emoji)
    }

    @Test func recentlyUsedEmojiComeFirst() async {
        let library = EmojiLibrary(recent: ["🚀", "🌹"]) { try Self.catalog("en") }
        let session = makeSession(library)
        await type(":ro", into: session)
        let rows = session.composer.completion?.items.map(\.id) ?? []
        #expect(rows.prefix(2) == ["🚀", "🌹"] && rows.count > 10 && Set(rows).count == rows.count)
    }

    @Test func smileysComeBeforeOtherEmoji() async {
        let session = makeSession(EmojiLibrary(recent: ["🚀"]) { try Self.catalog("en") })
        await type(":sm", into: session)
        let names = session.composer.completion?.items.map(\.name) ?? []
        #expect(Set(names.prefix(2)) == ["smile", "smiley"] && names.contains("small_airplane"))
        #expect(Set(names).count == names.count)
    }

    @Test func skinTonesAreOffered() async throws {
        let library = EmojiLibrary(tone: .medium) { try Self.catalog("en") }
        let session = makeSession(library)
        await type(":wave", into: session)
        let rows = session.composer.completion?.items ?? []
        #expect(rows.prefix(6).map(\.replacement) == ["👋🏽", "👋", "👋🏻", "👋🏼", "👋🏾", "👋🏿"])
        #expect(rows[2].name == "wave::skin-tone-2")
        let catalog = try Self.catalog("en")
        #expect(catalog.emoji(code: "female-technologist")?.text(in: .dark) == "👩🏿‍💻")
        #expect(catalog.emoji(text: "🧑‍🤝‍🧑")?.text(in: .light) == "🧑🏻‍🤝‍🧑🏻")
        #expect(catalog.emoji(text: "☝️")?.text(in: .light) == "☝🏻")
        #expect(catalog.emoji(text: "👋🏿")?.text == "👋" && catalog.emoji(text: "☝🏻")?.text == "☝️")
        #expect(catalog.emoji(code: "tada")?.text(in: .dark) == "🎉")
    }

    /// Every skin tone sequence is a single grapheme cluster.
    @Test func skinToneSequencesAreSingleCharacters() throws {
        for emoji in try Self.catalog("en").emoji where emoji.tones != .none {
            for tone in SkinTone.allCases { #expect(emoji.text(in: tone).count == 1) }
        }
    }

    /// Each case: the typed text and its result. SLK-66: smileys and times are unchanged.
    nonisolated static let typed: [(String, String)] = [
        (":tada:", "🎉"), ("hi :+1: there", "hi 👍 there"), (":wave::skin-tone-3:", "👋🏼"), ("(:tada:", "(🎉"),
        ("a:tada:", "a:tada:"), (":nothing:", ":nothing:"), ("10:30:", "10:30:"), ("`:tada:", "`:tada:"),
        ("::tada:", "::tada:"), ("http://a:100:", "http://a:100:"), (":)", ":)"),
        (":tada:skin-tone-3:", "🎉skin-tone-3:"),
        (":tada::skin-tone-3:", "🎉:skin-tone-3:"), (":tada::+1:", "🎉👍"),
        // Code, also at some distance from its start, and text after it.
        ("```\na[:tada:]", "```\na[:tada:]"), ("```x :tada:", "```x :tada:"), ("``a` :tada:", "``a` :tada:"),
        ("`" + String(repeating: "x ", count: 60) + ":tada:", "`" + String(repeating: "x ", count: 60) + ":tada:"),
        ("`a` :tada:", "`a` 🎉"), ("\\`a :tada:", "\\`a 🎉"),
    ]

    @Test(arguments: typed)
    func closedShortcodeBecomesItsEmoji(text: String, expected: String) async throws {
        let library = EmojiLibrary { try Self.catalog("en") }
        let session = makeSession(library)
        // Load the catalog first, as the list does at the second letter.
        await type(":ta", into: session)
        session.handle(.clear)
        await type(text, into: session)
        #expect(session.document.text == expected)
    }

    @Test func undoRestoresTheShortcode() async throws {
        let library = EmojiLibrary { try Self.catalog("en") }
        let session = makeSession(library)
        await type(":ta", into: session)
        session.handle(.clear)
        await type(":tada:", into: session)
        #expect(session.document.text == "🎉")
        session.handle(.undo)
        #expect(session.document.text == ":tada:" && session.composer.selection == .caret(6))
        await type(" x", into: session)
        #expect(session.document.text == ":tada: x", "SLK-66: the code can be sent as text")
    }

    @Test("SLK-66: a code stays one in code spans that are closed already, and in no literal text is there code")
    func shortcodeStaysInClosedCode() async throws {
        let session = makeSession(EmojiLibrary { try Self.catalog("en") })
        await type(":ta", into: session)
        let text = "`" + String(repeating: "x ", count: 60) + ":tada`"
        session.handle(.load(WrittenText(text), selection: .caret(text.utf16.count - 1)))
        await type(":", into: session)
        #expect(session.document.text == String(text.dropLast()) + ":`")
        session.handle(.load(WrittenText("`:tada", syntax: .plain), selection: .caret(6)))
        await type(":", into: session)
        #expect(session.document.text == "`🎉")
    }

    @Test("MCV-9: where the limit rejects the closing colon, the code and what follows it stay")
    func rejectedColonReplacesNothing() async throws {
        var configuration = Self.unthrottled
        configuration.characterLimit = 6
        configuration.limitPolicy = .hard
        let session = makeSession(EmojiLibrary { try Self.catalog("en") }, configuration)
        await type(":ta", into: session)
        session.handle(.load(WrittenText(":tadax"), selection: .caret(5)))
        await type(":", into: session)
        #expect(session.document.text == ":tadax")
    }

    @Test func malformedCatalogIsShownAsAFailure() async {
        let library = EmojiLibrary { try EmojiCatalog(list: "x\t0", names: "", english: "") }
        let session = makeSession(library)
        await type(":ta", into: session)
        await eventually { session.composer.completion?.hasFailed ?? false }
        #expect(session.composer.completion?.items.isEmpty == true)
        #expect(session.composer.completion?.isVisible == true)
    }
}
