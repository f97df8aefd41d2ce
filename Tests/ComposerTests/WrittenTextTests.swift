import Composer
import Foundation
import Testing

@Suite("A written text") struct WrittenTextTests {
    private static let ann = WrittenText.Mark(
        .mention(.member("@ann:example.org")), over: TextRange(location: 3, length: 4))

    @Test("returns its mentions with their texts") func mentionsHaveTheirTexts() throws {
        let text = try #require(WrittenText("Hi @Ann 👋", marks: [Self.ann]))
        #expect(text.mentions.map(\.text) == ["@Ann"])
        #expect(text.mentions.map(\.target) == [.member("@ann:example.org")])
    }

    @Test("survives encoding") func survivesEncoding() throws {
        let room = WrittenText.Mark(
            .mention(.room("!r", via: ["example.org"])), over: TextRange(location: 8, length: 2))
        let bold = WrittenText.Mark(.style(.bold), over: TextRange(location: 0, length: 10))
        let text = try #require(WrittenText("Hi @Ann #r", syntax: .plain, marks: [room, Self.ann, bold]))
        #expect(try JSONDecoder().decode(WrittenText.self, from: JSONEncoder().encode(text)) == text)
        #expect(text.marks == [bold, Self.ann, room])
    }

    @Test(
        "rejects marks that do not fit",
        arguments: [
            ("Hi", [ann]),
            ("Hi @Ann", [ann, ann]),
            ("Hi \u{1F469}\u{200D}\u{1F680}", [ann]),
            ("Hi @Ann", [WrittenText.Mark(.mention(.everyone), over: .caret(3))]),
            ("Hi @Ann", [WrittenText.Mark(.file("a"), over: TextRange(location: 0, length: 1))]),
            ("Hi\0@Ann", [WrittenText.Mark(.mention(.everyone), over: TextRange(location: 3, length: 4))]),
        ]) func rejectsMarksThatDoNotFit(source: String, marks: [WrittenText.Mark]) throws
    {
        #expect(WrittenText(source, marks: marks) == nil)
        struct Form: Encodable {
            var source: String
            var syntax = "markdown"
            var marks: [WrittenText.Mark]
        }
        let data = try JSONEncoder().encode(Form(source: source, marks: marks))
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(WrittenText.self, from: data) }
    }
}
