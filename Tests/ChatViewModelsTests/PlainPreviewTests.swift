import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatViewModels

/// What stands for a message where there is room for a line.
@MainActor @Suite(.timeLimit(.minutes(5))) struct PlainPreviewTests {
    @Test(arguments: [
        ("**Lunch** at `12`, [menu](https://a.example)?", "Lunch at 12, menu?"),
        ("# Plans\n\n- one\n- two", "Plans • one • two"),
        ("the end: ||Rosebud||!", "the end: ▒▒▒▒▒!"),
        ("a || b", "a || b"),
        ("snake_case and 2 * 3", "snake_case and 2 * 3"),
        ("```swift\nlet a = 1\n```", "let a = 1"),
        ("", ""),
    ])
    func aLineHasNoMarks(text: String, line: String) {
        #expect(PlainPreview.line(text, isCut: false) == line)
    }

    private func body(_ text: String, html: String? = nil) -> MessageBody {
        var message = Fixtures.message(1, by: Fixtures.other)
        (message.text, message.formattedText) = (text, html)
        return MessageBodies().body(of: message)
    }

    /// The beginning of a text may end within a spoiler.
    @Test func whatIsCutKeepsItsSecret() {
        #expect(PlainPreview.line("It was ||the butler, who", isCut: true) == "It was ▒▒▒▒▒")
        let long = String(repeating: "word ", count: 600) + "||the butler " + String(repeating: "did it ", count: 600)
        for found in stride(from: 0, to: long.utf8.count, by: 501) {
            let shown = PlainPreview.surroundings(of: found, in: long + "|| end")
            #expect(!shown.contains("butler") && !shown.contains("did it"), "around \(found)")
        }
    }

    @Test(arguments: [
        ("*first*\nsecond", "first…"), ("> quoted\n\nanswer", "> quoted…"), ("||all of it||", "▒▒▒▒▒"), ("a", "a"),
    ])
    func quotesAreTheFirstLine(text: String, quote: String) {
        #expect(PlainPreview.quote(body(text), attachments: []) == quote)
    }

    @Test func aMessageOfHTMLIsQuotedByItsHTML() {
        let body = body("x", html: "<p>It is <span data-mx-spoiler>Rosebud</span> &amp; <b>that</b></p>")
        #expect(PlainPreview.quote(body, attachments: []) == "It is ▒▒▒▒▒ & that")
    }

    @Test func aFileIsQuotedByItsName() {
        let file = MediaReference(uri: "mxc://a/b", name: "cat.png", type: "image/png")
        #expect(PlainPreview.quote(MessageBody(), attachments: [file]) == "cat.png")
    }

    @Test func theRoomListShowsNoMarks() async {
        let service = FakeChatService()
        let list = RoomListViewModel(service: service, now: { Fixtures.date })
        list.start()
        var room = RoomSummary.of("a")
        func say(_ text: String) async -> String? {
            room.lastMessage = .init(senderName: "Ann", isOwn: false, text: text, sentAt: Fixtures.date)
            service.tell([room])
            await eventually { list.state.rows.first?.preview.text?.isEmpty == false }
            return list.state.rows.first?.preview.text
        }
        #expect(await say("**Lunch** is ||soup||") == "Lunch is ▒▒▒▒▒")
    }

    /// What was found is lit where it stands in the plain text.
    @Test(arguments: [
        ("**Lunch** at *twelve*", "twelve", "Lunch at twelve", ["twelve"]),
        ("see [the menu](https://soup.example)", "menu", "see the menu", ["menu"]),
        ("see [the menu](https://soup.example)", "soup", "see [the menu](https://soup.example)", ["soup"]),
        ("the end: ||Rosebud|| it is", "rosebud", "the end: ▒▒▒▒▒ it is", []),
    ])
    func resultsHaveNoMarks(text: String, searched: String, snippet: String, lit: [String]) {
        var message = Fixtures.message(1, by: Fixtures.other)
        message.text = text
        let result = SearchResult(
            message, roomName: "Plans", sender: Fixtures.other, terms: SearchTerms(searched), now: Fixtures.date)
        #expect(result.snippet == snippet)
        let bytes = Array(result.snippet.utf8)
        #expect(result.matches.map { String(decoding: bytes[$0], as: UTF8.self) } == lit)
    }
}

extension RoomListViewModel.Row.Preview {
    fileprivate var text: String? { if case .message(_, _, let text) = self { text } else { nil } }
}
