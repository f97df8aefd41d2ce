import ChatTestSupport
import Composer
import ComposerSessions
import Foundation
import Spelling
import Testing

/// PAR-3, PAR-4: words are checked with the installed dictionaries.
@Suite(.timeLimit(.minutes(10))) struct EnchantCheckerTests {
    /// The folder in which Enchant stores the words that tests add.
    private static let words: TemporaryFolder? = {
        let folder = TemporaryFolder()
        setenv("ENCHANT_CONFIG_DIR", folder.url.path, 1)
        // If Enchant prefers Aspell, that has its own word list in the home folder.
        setenv("ASPELL_CONF", "home-dir \(folder.url.path)", 1)
        return folder
    }()

    private let checker: EnchantChecker

    init() throws {
        _ = try #require(Self.words)
        checker = EnchantChecker()
    }

    @Test func dictionariesAreFound() async throws {
        let languages = try await checker.languages()
        #expect(Set(["en_US", "de_DE", "ar"]).isSubset(of: languages))
        #expect(languages == languages.sorted())
    }

    static let judged: [([String], [String], Set<String>)] = [
        (["en_US"], ["word", "wrod", "Word", "don't", "don’t", "dno’t"], ["wrod", "dno’t"]),
        (["de_DE"], ["Straße", "Strase", "naiv", "geht’s", "gehht's"], ["Strase", "gehht's"]),
        (["ar"], ["كتاب", "كتاببب", "كِتابٌ"], ["كتاببب"]),
        (["en_US", "de_DE"], ["word", "Wort", "Wrot"], ["Wrot"]),
        (["de_DE"], ["scho\u{308}n", "schön"], []),
        ([], ["word"], ["word"]), (["en_US"], [], []),
    ]

    @Test(arguments: judged)
    func wordIsRightIfOneLanguageHasIt(_ languages: [String], _ words: [String], _ wrong: Set<String>) async throws {
        #expect(try await checker.misspelled(words, in: languages) == wrong)
    }

    @Test func suggestionsComeFromEachLanguage() async throws {
        #expect(try await checker.suggestions(for: "wrod", in: ["en_US"]).contains("word"))
        let both = try await checker.suggestions(for: "Fenstre", in: ["en_US", "de_DE"])
        #expect(both.contains("Fenster") && Set(both).count == both.count)
        #expect(try await !checker.suggestions(for: "كتاببب", in: ["ar"]).isEmpty)
    }

    @Test func addedWordIsRightFromNowOn() async throws {
        #expect(try await checker.misspelled(["Zyxwabc"], in: ["en_US"]) == ["Zyxwabc"])
        try await checker.add("Zyxwabc", to: "en_US")
        #expect(try await checker.misspelled(["Zyxwabc"], in: ["en_US"]).isEmpty)
        #expect(try await EnchantChecker().misspelled(["Zyxwabc"], in: ["en_US"]).isEmpty, "after a restart, too")
        #expect(try await checker.misspelled(["Zyxwabc"], in: ["de_DE"]) == ["Zyxwabc"])
    }

    @Test func absentDictionaryIsAnError() async {
        await #expect(throws: SpellingError.unreadable("xx_XX")) {
            _ = try await checker.misspelled(["word"], in: ["xx_XX"])
        }
        await #expect(throws: SpellingError.unreadable("xx_XX")) { try await checker.add("word", to: "xx_XX") }
    }

    @MainActor
    @Test func sessionMarksWhatNoDictionaryHas() async throws {
        let clock = ManualClock()
        let session = ComposerSession(time: Timekeeper(clock))
        session.checkSpelling(by: checker, in: .locales(["de_AT.UTF-8", "de_AT", "de", "en_US", "C"]))
        session.handle(.paste([.text("word Wort wrod")]))
        await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        while session.misspelled != [TextRange(location: 10, length: 4)] { await Task.yield() }
    }
}
