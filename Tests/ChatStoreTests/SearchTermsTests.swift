import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatStore

/// Search queries with terms and filters.
@Suite(.timeLimit(.minutes(10))) struct SearchTermsTests {
    private func fixture(_ texts: String...) async throws -> StoreFixture {
        let fixture = try await StoreFixture()
        for (number, text) in texts.enumerated() {
            try await fixture.append(Int64(number + 1), by: number % 2 == 0 ? Fixtures.own : Fixtures.other, text: text)
        }
        return fixture
    }

    private func texts(
        _ text: String, in fixture: StoreFixture, _ change: (inout SearchQuery) -> Void = { _ in }
    ) async throws -> [String] {
        var query = SearchQuery(text: text, matching: .terms, limit: 2)
        change(&query)
        var found: [String] = []
        repeat {
            let page = try await fixture.store.search(query)
            found += page.messages.map(\.text)
            query.after = page.next
        } while query.after != nil
        return found
    }

    @Test func termsMatchWordsAndSubstrings() async throws {
        let fixture = try await fixture("Dampfschiff", "ein Schiff fährt", "SCHIFFE und Fähren", "nichts")
        #expect(try await texts("schiff", in: fixture) == ["SCHIFFE und Fähren", "ein Schiff fährt", "Dampfschiff"])
        #expect(try await texts("fahr schiff", in: fixture) == ["SCHIFFE und Fähren", "ein Schiff fährt"])
        #expect(try await texts("\"schiff fährt\"", in: fixture) == ["ein Schiff fährt"])
        #expect(try await texts("f", in: fixture) == ["SCHIFFE und Fähren", "ein Schiff fährt"])
        #expect(try await texts("ampf fähr", in: fixture) == [])
        #expect(try await texts("näch", in: fixture) == [])
    }

    @Test func shortTermsMatchInScriptsWithoutSpaces() async throws {
        let fixture = try await fixture("私は東京都に住む", "京都", "東", "안녕하세요", "🎉 party", "a->b")
        #expect(try await texts("東京", in: fixture) == ["私は東京都に住む"])
        #expect(try await texts("京都", in: fixture) == ["京都", "私は東京都に住む"])
        #expect(try await texts("東", in: fixture) == ["東", "私は東京都に住む"])
        #expect(try await texts("하세", in: fixture) == ["안녕하세요"])
        #expect(try await texts("🎉", in: fixture) == ["🎉 party"])
        #expect(try await texts("->", in: fixture) == ["a->b"])
        #expect(try await texts("東京都", in: fixture) == ["私は東京都に住む"])
    }

    @Test func indexFollowsEditsAndDeletions() async throws {
        let fixture = try await fixture("東京の話", "second")
        let id = MessageID("message-1")
        _ = try await fixture.store.edit(
            id, in: fixture.room, to: Wording("大阪の話 now"), by: Fixtures.own.id, at: Fixtures.date)
        #expect(try await texts("東京", in: fixture) == [])
        #expect(try await texts("大阪", in: fixture) == ["大阪の話 now"])
        #expect(try await texts("now", in: fixture) == ["大阪の話 now"])
        _ = try await fixture.store.delete(id, in: fixture.room, by: Fixtures.own.id)
        for text in ["大阪", "now", "の話"] { #expect(try await texts(text, in: fixture) == [], "\(text)") }
        #expect(try await texts("", in: fixture) { $0.rooms = [fixture.room] } == ["second"])
    }

    @Test func datesNarrowTheSearch() async throws {
        let fixture = try await fixture("word 1", "word 2", "word 3", "other 4")
        func at(_ number: Int64) -> Date { Fixtures.message(number).sentAt }
        #expect(try await texts("word", in: fixture) { $0.until = at(3) } == ["word 2", "word 1"])
        #expect(try await texts("word", in: fixture) { $0.from = at(3) } == ["word 3"])
        let both = try await texts("", in: fixture) {
            $0.from = at(2)
            $0.until = at(4)
        }
        #expect(both == ["word 3", "word 2"], "by time alone")
        let inRoom = try await texts("", in: fixture) {
            $0.rooms = [fixture.room]
            $0.from = at(3)
        }
        #expect(inRoom == ["other 4", "word 3"])
    }

    @Test func contentTypesNarrowTheSearch() async throws {
        let fixture = try await fixture("see https://example.org", "no link", "www.example.org too")
        let picture = MediaReference(uri: "x", name: "cat.png", type: "image/png")
        let sound = MediaReference(uri: "y", name: "a.ogg", type: "audio/ogg")
        for (number, file) in [picture, sound].enumerated() {
            let new = NewMessage(
                id: MessageID("file-\(number)"), sender: Fixtures.own.id, text: number == 0 ? "" : "listen",
                sentAt: Fixtures.date, kind: number == 0 ? .image : .text, attachments: [file])
            _ = try await fixture.store.append(new, to: fixture.room)
        }
        #expect(
            try await texts("", in: fixture) { $0.contents = [.link] } == [
                "www.example.org too", "see https://example.org",
            ])
        #expect(try await texts("too", in: fixture) { $0.contents = [.link] } == ["www.example.org too"])
        #expect(try await texts("", in: fixture) { $0.contents = [.image] } == [""])
        #expect(try await texts("", in: fixture) { $0.contents = [.audio] } == ["listen"])
        #expect(try await texts("", in: fixture) { $0.contents = [.file] } == ["listen", ""])
        #expect(try await texts("", in: fixture) { $0.contents = [.video] } == [])
        #expect(try await texts("listen", in: fixture) { $0.contents = [.file, .audio] } == ["listen"])
    }

    @Test func severalSendersOrRoomsAreAlternatives() async throws {
        let fixture = try await fixture("word a", "word b")
        let second = Fixtures.room("second")
        try await fixture.store.createRoom(
            NewRoom(room: second, members: [Fixtures.own], createdAt: Fixtures.date))
        let new = NewMessage(
            id: MessageID("x"), sender: Fixtures.own.id, text: "word c",
            sentAt: Fixtures.date.addingTimeInterval(3600))
        _ = try await fixture.store.append(new, to: second.id)
        #expect(
            try await texts("wor", in: fixture) { $0.rooms = [fixture.room, second.id] } == [
                "word c", "word b", "word a",
            ])
        #expect(try await texts("wor", in: fixture) { $0.rooms = [second.id] } == ["word c"])
        #expect(try await texts("ord", in: fixture) { $0.rooms = [second.id] } == ["word c"])
        #expect(try await texts("wor", in: fixture) { $0.senders = [Fixtures.other.id] } == ["word b"])
        #expect(try await texts("wor", in: fixture) { $0.senders = [] } == [], "nobody has nothing")
        let many = Set((0..<500).map { RoomID("room \($0)") } + [second.id])
        #expect(try await texts("wor", in: fixture) { $0.rooms = many } == ["word c"])
    }

    @Test func membersAreFoundByName() async throws {
        let fixture = try await fixture("x")
        #expect(try await fixture.store.members(named: "ale") == [Fixtures.other.id])
        #expect(try await fixture.store.members(named: "ROBIN") == [Fixtures.own.id])
        #expect(try await fixture.store.members(named: "Me") == [Fixtures.own.id], "whatever the user is called")
        #expect(try await fixture.store.members(named: "lex") == [])
        #expect(try await fixture.store.members(named: " ") == [])
        let page = try await fixture.store.search(SearchQuery(text: "x", matching: .terms))
        #expect(page.senders == [Fixtures.own.id: Fixtures.own])
    }

    @Test(
        "Letters that differ by diacritics, width or case alone are the same, within words too",
        arguments: [
            ("еще", "а он ещё тут"), ("ещё", "а он еще тут"), ("мои", "мой"), ("её", "ее"), ("ее", "её дом"),
            ("αθηνα", "η Αθήνα"), ("Αθήνα", "αθηνα"), ("ανθρωπος", "ἄνθρωπος"), ("οδος", "ΟΔΟΣ"), ("ΟΔΟΣ", "η οδός"),
            ("احمد", "قال أحمد"), ("أحمد", "قال احمد"), ("uber", "darüber"), ("Über", "daruber"),
            ("television", "radiotélévision"), ("hello", "Ｈｅｌｌｏ"), ("Ｈｅｌｌｏ", "say hello"), ("hi", "Ｈｉ"),
            ("Ｈello", "Ｈello"), ("cafe\u{301}", "Netzcafé"), ("שָׁלוֹם", "שלום"), ("ist", "x-İstanbul"),
            ("о\u{438}\u{306}", "ой"), ("ой", "о\u{438}\u{306}"), ("שָׁל", "של"), ("שָׁל", "שָׁלוֹם"), ("שָׁל", "שׁל"),
            ("о\u{438}\u{306} שָׁל", "ой של"), ("о\u{438}\u{306} тут", "ой, тут"), ("שָׁל 東京", "של 私は東京都に住む"),
        ])
    func equivalentLetters(_ query: String, _ text: String) async throws {
        let fixture = try await fixture(text, "nothing of it")
        #expect(try await texts(query, in: fixture) == [text])
    }

    @Test("However long the terms are, an index is asked for a limited number of trigrams")
    func trigramsAreLimited() throws {
        for letters in ["a", "aeiou", "αειου", "stone", "東京", "a\u{301}", "e\u{301}\u{302}x"] {
            let term = String(repeating: letters, count: SearchTerms.maxScalars / letters.unicodeScalars.count)
            let expression = try #require(TrigramMatch.expression(for: Array(repeating: term, count: 16)))
            let count = expression.split(separator: " OR ").count + expression.split(separator: " AND ").count
            #expect(count < 2 * TrigramMatch.maxSpellings, "\(letters)")
        }
    }

    @Test(arguments: [
        "", "  ", "*", "\"", "AND", "NEAR(a b)", "a* OR b", "-x", "\u{E000}r1", "'; DROP TABLE message", "%_", "\0",
        "\u{301}", "\u{200D}", "\"\"", "𝕏", "\u{FFFF}", "a\0bc", "\0\0\0", "a\"\u{20E3}b", "x\u{FFFF}y", "🤔hi",
        "\u{19B3}x", "\u{93E}\u{93E}\u{93E}",
    ])
    func arbitraryQueriesDoNotFail(_ text: String) async throws {
        let fixture = try await fixture("near and far or not")
        for rooms in [nil, Set([fixture.room])] {
            _ = try await texts(text, in: fixture) { $0.rooms = rooms }
            _ = try await texts(text, in: fixture) {
                $0.rooms = rooms
                $0.contents = [.link, .image]
            }
        }
    }

    @Test func canceledSearchThrows() async throws {
        let fixture = try await fixture("word")
        let store = fixture.store
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await store.search(SearchQuery(text: "word", matching: .terms))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
