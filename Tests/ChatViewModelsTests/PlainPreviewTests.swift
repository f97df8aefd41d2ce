import ChatCore
import ChatTestSupport
import Composer
import Foundation
import Testing

@testable import ChatViewModels

/// One-line previews of messages.
@MainActor @Suite(.timeLimit(.minutes(10))) struct PlainPreviewTests {
    @Test(arguments: [
        ("**Lunch** at `12`, [menu](https://a.example)?", "Lunch at 12, menu?"),
        ("# Plans\n\n- one\n- two", "Plans • one • two"),
        ("the end: ||Rosebud||!", "the end: ▒▒▒▒▒!"),
        ("a || b", "a || b"),
        ("snake_case and 2 * 3", "snake_case and 2 * 3"),
        ("```swift\nlet a = 1\n```", "let a = 1"),
        ("", ""),
    ])
    func lineHasNoMarkup(text: String, line: String) {
        #expect(PlainPreview.line(text, .markdown, isCut: false) == line)
    }

    private func body(_ text: String, html: String? = nil) -> MessageBody {
        var message = Fixtures.message(1, by: Fixtures.other)
        (message.text, message.formattedText) = (text, html)
        return MessageBodies().body(of: message)
    }

    /// Truncation within a spoiler must not reveal it.
    @Test func truncationNeverRevealsASpoiler() {
        #expect(PlainPreview.line("It was ||the butler, who", .markdown, isCut: true) == "It was ▒▒▒▒▒")
        let long = String(repeating: "word ", count: 600) + "||the butler " + String(repeating: "did it ", count: 600)
        for found in stride(from: 0, to: long.utf8.count, by: 501) {
            let shown = PlainPreview.surroundings(of: found, in: long + "|| end", .markdown)
            #expect(!shown.contains("butler") && !shown.contains("did it"), "around \(found)")
        }
    }

    @Test(arguments: [
        ("*first*\nsecond", "first…"), ("> quoted\n\nanswer", "> quoted…"), ("||all of it||", "▒▒▒▒▒"), ("a", "a"),
    ])
    func quoteIsTheFirstLine(text: String, quote: String) {
        #expect(PlainPreview.quote(body(text), attachments: []).source == quote)
    }

    @Test func quoteUsesTheHTMLBody() {
        let body = body("x", html: "<p>It is <span data-mx-spoiler>Rosebud</span> &amp; <b>that</b></p>")
        #expect(PlainPreview.quote(body, attachments: []).source == "It is ▒▒▒▒▒ & that")
    }

    /// Mentions in a quote remain pills, except within a spoiler, where they would reveal a name.
    @Test func quoteKeepsMentions() {
        let html = """
            <a href="https://matrix.to/#/@ann:x">Ann</a> &amp; Ann <span data-mx-spoiler>\
            <a href="https://matrix.to/#/@eve:x">Eve</a></span>?
            """
        let quote = PlainPreview.quote(body("x", html: html), attachments: [])
        #expect(quote.source == "Ann & Ann ▒▒▒▒▒?")
        #expect(quote.marks == [.init(.mention(.member("@ann:x")), over: TextRange(location: 0, length: 3))])
    }

    @Test func quotedFileIsItsName() {
        let file = MediaReference(uri: "mxc://a/b", name: "cat.png", type: "image/png")
        #expect(PlainPreview.quote(MessageBody(), attachments: [file]).source == "cat.png")
    }

    @Test func roomListShowsNoMarkup() async {
        let service = FakeChatService()
        let list = RoomListViewModel(service: service, now: { Fixtures.date })
        list.start()
        var room = RoomSummary.of("a")
        func say(_ text: String) async -> String? {
            room.lastMessage = .init(senderName: "Ann", isOwn: false, text: text, sentAt: Fixtures.date)
            service.publish([room])
            await eventually { list.state.rows.first?.preview.text?.isEmpty == false }
            return list.state.rows.first?.preview.text
        }
        #expect(await say("**Lunch** is ||soup||") == "Lunch is ▒▒▒▒▒")
    }

    /// A plain-text message of another client is not parsed as Markdown; a message with another syntax is.
    @Test(
        arguments: [
            (nil, true, "*2 || 3* #1"), (nil, false, "2 || 3 #1"), (.markdown, true, "2 || 3 #1"),
            (.plain, false, "*2 || 3* #1"),
        ] as [(WrittenText.Syntax?, Bool, String)])
    func roomListShowsPlainTextLiterally(syntax: WrittenText.Syntax?, readsPlainTexts: Bool, shown: String) async {
        let service = FakeChatService()
        let list = RoomListViewModel(service: service, readsPlainTexts: readsPlainTexts, now: { Fixtures.date })
        list.start()
        var room = RoomSummary.of("a")
        let text = "*2 || 3* #1"
        room.lastMessage = .init(senderName: "Ann", isOwn: false, text: text, syntax: syntax, sentAt: Fixtures.date)
        service.publish([room])
        await eventually { list.state.rows.first?.preview.text?.isEmpty == false }
        #expect(list.state.rows.first?.preview.text == shown)
        // The cache must not key on text alone: another message may have the same text in another syntax.
        room.lastMessage?.syntax = shown == text ? .markdown : .plain
        service.publish([room])
        await eventually { list.state.rows.first?.preview.text != shown }
    }

    @Test func searchResultsShowPlainTextLiterally() {
        var message = Fixtures.message(1, by: Fixtures.other)
        message.text = "see [the *menu*](https://soup.example) ||now||"
        func snippet(_ message: Message) -> String {
            SearchResult(
                message, roomName: "Plans", sender: Fixtures.other, terms: SearchTerms("menu"), readsPlainTexts: true,
                now: Fixtures.date
            ).snippet
        }
        #expect(snippet(message) == message.text)
        var other = message
        other.formattedText = "see <a href=\"https://soup.example\">the menu</a>"
        #expect(snippet(other) == "see the menu ▒▒▒▒▒")
        other = message
        other.transactionID = TransactionID("t")
        #expect(snippet(other) == "see the menu ▒▒▒▒▒", "an earlier version's")
        other.written = WrittenText(message.text, syntax: .plain)
        #expect(snippet(other) == message.text)
    }

    @Test("A result names its sender in a sentence that translations can reorder, with the matches in place")
    func searchResultsNameTheirSender() throws {
        func matches(in line: SearchResult.Line) -> [String] {
            let bytes = Array(line.text.utf8)
            return line.matches.map { String(decoding: bytes[$0], as: UTF8.self) }
        }
        var message = Fixtures.message(1, by: Fixtures.other)
        message.text = "see the menu"
        func result(_ sender: Member) -> SearchResult {
            SearchResult(
                message, roomName: "Plans", sender: sender, terms: SearchTerms("menu"), readsPlainTexts: true,
                now: Fixtures.date)
        }
        let line = result(Fixtures.other).line(.untranslated)
        #expect(line.text == "Alex: see the menu" && matches(in: line) == ["menu"])
        let inverted = Translator(
            translate: { $0 == "{name}: {text}" ? "« {text} » ({name})" : $0 }, plural: { $2 == 1 ? $0 : $1 })
        let other = result(Fixtures.other).line(inverted)
        #expect(other.text == "« see the menu » (Alex)" && matches(in: other) == ["menu"])
        var own = result(Fixtures.other)
        own.isOwn = true
        #expect(own.line(.untranslated).text == "You: see the menu")
        #expect(own.accessibleText(time: "noon", .untranslated) == "Plans, noon, You: see the menu")
        let arabic = Translator(
            translate: { ["You: {text}": "أنت: {text}", "Cancel": "ألغِ"][$0] ?? $0 }, plural: { one, _, _ in one })
        let isolated = result(Fixtures.other).line(arabic)
        #expect(isolated.text == "\u{200F}\u{2068}Alex\u{2069}: \u{2068}see the menu\u{2069}")
        #expect(matches(in: isolated) == ["menu"])
        var number = own
        number.snippet = "2024"
        number.matches = [0..<4]
        #expect(matches(in: number.line(arabic)) == ["2024"], "though digits alone are not isolated")
        var odd = result(Fixtures.other)
        odd.senderName = "\u{F8FF}"
        #expect(odd.line(.untranslated).matches.isEmpty, "rather none than in the wrong place")
    }

    /// Search matches are highlighted in the plain text.
    @Test(arguments: [
        ("**Lunch** at *twelve*", "twelve", "Lunch at twelve", ["twelve"]),
        ("see [the menu](https://soup.example)", "menu", "see the menu", ["menu"]),
        ("see [the menu](https://soup.example)", "soup", "see [the menu](https://soup.example)", ["soup"]),
        ("the end: ||Rosebud|| it is", "rosebud", "the end: ▒▒▒▒▒ it is", []),
    ])
    func searchResultsShowNoMarkup(text: String, searched: String, snippet: String, highlighted: [String]) {
        var message = Fixtures.message(1, by: Fixtures.other)
        message.text = text
        let result = SearchResult(
            message, roomName: "Plans", sender: Fixtures.other, terms: SearchTerms(searched), readsPlainTexts: false,
            now: Fixtures.date)
        #expect(result.snippet == snippet)
        let bytes = Array(result.snippet.utf8)
        #expect(result.matches.map { String(decoding: bytes[$0], as: UTF8.self) } == highlighted)
    }
}

extension RoomListViewModel.Row.Preview {
    fileprivate var text: String? { if case .message(_, _, let text, _) = self { text } else { nil } }
}
