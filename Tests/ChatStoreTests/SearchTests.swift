import ChatCore
import ChatTestSupport
import Foundation
import GRDB
import Testing
import ToolSupport

@testable import ChatStore

@Suite(.timeLimit(.minutes(10))) struct SearchTests {
    private func fixture(_ texts: String...) async throws -> StoreFixture {
        let fixture = try await StoreFixture()
        for (number, text) in texts.enumerated() {
            try await fixture.append(
                Int64(number + 1), by: number % 2 == 0 ? Fixtures.own : Fixtures.other, text: text)
        }
        return fixture
    }

    private func texts(_ query: SearchQuery, in fixture: StoreFixture) async throws -> [String] {
        try await fixture.store.search(query).messages.map(\.text)
    }

    @Test func wordsMatchIgnoringCaseAndDiacritics() async throws {
        let fixture = try await fixture("A naïve plan", "Plans for the NAIVE", "nothing", "plan, unnaive")
        #expect(try await texts(SearchQuery(text: "naive"), in: fixture) == ["Plans for the NAIVE", "A naïve plan"])
        #expect(
            try await texts(SearchQuery(text: "NAÏVE pla"), in: fixture) == ["Plans for the NAIVE", "A naïve plan"])
        #expect(try await texts(SearchQuery(text: "plan naive"), in: fixture) == ["A naïve plan"])
        #expect(try await texts(SearchQuery(text: "plan  (nai"), in: fixture) == ["A naïve plan"])
    }

    @Test func substringsMatchWithinWords() async throws {
        let fixture = try await fixture("Donaudampfschiff", "Schiffe", "Chip", "schi ff", "say \"hi\" to it")
        #expect(
            try await texts(SearchQuery(text: "schiff", matching: .substring), in: fixture) == [
                "Schiffe", "Donaudampfschiff",
            ])
        #expect(try await texts(SearchQuery(text: "DAMPF", matching: .substring), in: fixture) == ["Donaudampfschiff"])
        #expect(
            try await texts(SearchQuery(text: "y \"hi\" t", matching: .substring), in: fixture) == ["say \"hi\" to it"])
        // All trigrams match, but the whole term does not.
        #expect(try await texts(SearchQuery(text: "chiffchi", matching: .substring), in: fixture) == [])
        // Terms shorter than a trigram match at the start of words.
        #expect(try await texts(SearchQuery(text: "ch", matching: .substring), in: fixture) == ["Chip"])
    }

    @Test func scriptsWithoutSpacesMatchBySubstring() async throws {
        let fixture = try await fixture("東京都に住んでいます", "مرحبا بالعالم", "안녕하세요 여러분")
        #expect(try await texts(SearchQuery(text: "に住ん", matching: .substring), in: fixture) == ["東京都に住んでいます"])
        #expect(try await texts(SearchQuery(text: "عالم", matching: .substring), in: fixture) == ["مرحبا بالعالم"])
        #expect(try await texts(SearchQuery(text: "여러"), in: fixture) == ["안녕하세요 여러분"])
    }

    /// Imported history and pages loaded later are sorted by time.
    @Test(arguments: [1, 3, 50]) func resultsAreSortedByTime(limit: Int) async throws {
        let fixture = try await StoreFixture()
        let other = Fixtures.room("second")
        try await fixture.store.createRoom(NewRoom(room: other, members: [Fixtures.own], createdAt: Fixtures.date))
        var random = SeededGenerator(seed: 7)
        for number in 0..<40 {
            let new = NewMessage(
                id: MessageID("m\(number)"), sender: Fixtures.own.id, text: "walrus \(number)",
                sentAt: Date(timeIntervalSince1970: Double(Int.random(in: 0..<1_700_000_000, using: &random))))
            _ = try await fixture.store.append(new, to: number % 3 == 0 ? other.id : fixture.room)
        }
        for text in ["walrus", "wal"] {
            var query = SearchQuery(text: text, matching: .terms, limit: limit)
            var found: [Message] = []
            repeat {
                let page = try await fixture.store.search(query)
                #expect(page.messages.count <= limit)
                found += page.messages
                query.after = page.next
            } while query.after != nil
            #expect(Set(found.map(\.id)).count == 40 && found.count == 40, "each once")
            #expect(found.map(\.sentAt) == found.map(\.sentAt).sorted(by: >))
        }
    }

    @Test func roomAndSenderNarrowTheSearch() async throws {
        let fixture = try await fixture("one word", "another word", "third")
        let other = Fixtures.room("second")
        try await fixture.store.createRoom(
            NewRoom(room: other, members: [Fixtures.own], createdAt: Fixtures.date))
        let new = NewMessage(
            id: MessageID("x"), sender: Fixtures.own.id, text: "word there",
            sentAt: Fixtures.date.addingTimeInterval(3600))
        _ = try await fixture.store.append(new, to: other.id)
        for matching in [SearchQuery.Matching.words, .substring] {
            var query = SearchQuery(text: "word", matching: matching)
            #expect(try await texts(query, in: fixture) == ["word there", "another word", "one word"])
            query.rooms = [fixture.room]
            #expect(try await texts(query, in: fixture) == ["another word", "one word"])
            query.senders = [Fixtures.own.id]
            #expect(try await texts(query, in: fixture) == ["one word"])
            query.rooms = [RoomID("none")]
            #expect(try await texts(query, in: fixture) == [])
        }
        #expect(
            try await texts(SearchQuery(sender: Fixtures.own.id), in: fixture) == ["word there", "third", "one word"])
        #expect(try await texts(SearchQuery(room: other.id), in: fixture) == ["word there"])
        #expect(try await texts(SearchQuery(sender: MemberID("nobody")), in: fixture) == [])
    }

    @Test func indexesFollowEditsDeletionsAndRemovedRooms() async throws {
        let fixture = try await fixture("first", "second")
        let id = MessageID("message-1")
        _ = try await fixture.store.edit(
            id, in: fixture.room, to: Wording("changed"), by: Fixtures.own.id, at: Fixtures.date)
        #expect(try await texts(SearchQuery(text: "first"), in: fixture) == [])
        #expect(try await texts(SearchQuery(text: "hang", matching: .substring), in: fixture) == ["changed"])
        _ = try await fixture.store.delete(id, in: fixture.room, by: Fixtures.own.id)
        #expect(try await texts(SearchQuery(text: "changed"), in: fixture) == [])
        #expect(try await texts(SearchQuery(sender: Fixtures.own.id), in: fixture) == [])
        try await fixture.store.removeRoom(fixture.room)
        #expect(try await texts(SearchQuery(text: "second"), in: fixture) == [])
        let words = try await fixture.store.write { db in
            try db.execute(
                sql: """
                    CREATE VIRTUAL TABLE temp.words USING fts5vocab (main, wordIndex, instance);
                    CREATE VIRTUAL TABLE temp.parts USING fts5vocab (main, partIndex, instance);
                    """)
            return try String.fetchAll(db, sql: "SELECT term FROM temp.words UNION ALL SELECT term FROM temp.parts")
        }
        #expect(words == [])
    }

    @Test func pagesHaveNoGapsOrDuplicates() async throws {
        let fixture = try await StoreFixture()
        for number in 1...25 { try await fixture.append(Int64(number), text: "word \(number)") }
        var query = SearchQuery(text: "word", limit: 10)
        var found: [String] = []
        repeat {
            let page = try await fixture.store.search(query)
            found += page.messages.map(\.text)
            query.after = page.next
        } while query.after != nil
        #expect(found == (1...25).reversed().map { "word \($0)" })
    }

    @Test(
        "Words with marks at which the index separates them are found",
        arguments: [
            "मेरा", "हिन्दी", "ภาษาไทย", "ที่นี่", "தமிழ்", "বাংলা", "ខ្មែរ", "မြန်မာ", "שָׁלוֹם", "مُحَمَّد",
            "か\u{3099}き\u{3099}", "1\u{FE0F}\u{20E3}", "e\u{301}te\u{301}", "می\u{200C}خواهم", "ᦀᦳᦰ", "👩\u{200D}🚀",
            "hi🤔", "a\"\u{20E3}b",
        ])
    func wordsWithMarks(_ word: String) async throws {
        let parts = IndexedWord.all(in: word).map(\.text)
        // At what is no mark, the index separates words in any order.
        let isOneWord = !word.unicodeScalars.contains { ["\u{200C}", "\""].contains($0) }
        let sameLetters = parts.count > 1 && isOneWord ? parts.reversed().joined(separator: " ") : "nothing"
        let fixture = try await fixture("\(word) first", sameLetters, "then \(word)")
        for matching in [SearchQuery.Matching.substring, .terms] {
            let found = try await texts(SearchQuery(text: word, matching: matching), in: fixture)
            #expect(found == ["then \(word)", "\(word) first"])
        }
        // Emoji are no words, and of unknown characters the index may have only what is before them.
        guard !["👩\u{200D}🚀", "ᦀᦳᦰ"].contains(word) else { return }
        let found = try await texts(SearchQuery(text: word), in: fixture)
        #expect(found == ["then \(word)", "\(word) first"])
    }

    @Test(arguments: [
        "", "  ", "*", "\"", "AND", "NEAR(a b)", "a* OR b", "-x", "\u{E000}r1", "'; DROP TABLE message", "%_", "\0",
        "\u{301}", "मेरा", "ภาษาไทย", "か\u{3099}", "1\u{FE0F}\u{20E3}", "a\0bc", "a\"\u{20E3}b", "x\u{FFFF}y", "🤔hi",
        "\u{19B3}x", "\u{1885}x", "\u{1CF2}x",
    ])
    func arbitraryQueriesDoNotFail(_ text: String) async throws {
        let fixture = try await fixture("near and far or not")
        for matching in [SearchQuery.Matching.words, .substring] {
            _ = try await fixture.store.search(SearchQuery(text: text, matching: matching))
            _ = try await fixture.store.search(SearchQuery(text: text, matching: matching, sender: Fixtures.own.id))
        }
        #expect(try await texts(SearchQuery(text: "AND"), in: fixture) == ["near and far or not"])
        #expect(try await texts(SearchQuery(text: ""), in: fixture) == [])
    }
}
