import ChatCore
import ChatViewModels
import Foundation
import Testing
import ToolSupport

@Suite struct SearchSyntaxTests {
    private let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 7200)!
        return calendar
    }()

    /// Returns noon of a day.
    private func noon(_ year: Int, _ month: Int, _ day: Int) -> Date {
        calendar.date(from: DateComponents(year: year, month: month, day: day, hour: 12))!
    }

    private func day(_ year: Int, _ month: Int, _ day: Int) -> Date {
        calendar.date(from: DateComponents(year: year, month: month, day: day))!
    }

    private func parse(_ typed: String) -> SearchSyntax {
        SearchSyntax(typed, now: noon(2026, 3, 1), calendar: calendar)
    }

    @Test func plainWordsAreUnchanged() {
        for text in ["hello there", "\"one phrase\" more", "https://example.org", "a:b", "12:30", "x"] {
            let syntax = parse(text)
            #expect(syntax.text == text)
            #expect(syntax.problems.isEmpty && syntax.senders.isEmpty)
        }
        #expect(parse("").isEmpty)
        #expect(parse("  \n ").isEmpty)
    }

    @Test func filtersAreRemovedFromTheText() {
        let syntax = parse("before from:ann FROM:\"Bob Lee\" in:“Project X” after has:image,x has:Link")
        #expect(syntax.text == "before after")
        #expect(syntax.senders == ["ann", "Bob Lee"])
        #expect(syntax.rooms == ["Project X"])
        #expect(syntax.contents == [.link])
        #expect(syntax.problems == [.content("image,x")])
    }

    @Test(arguments: [
        ("link", SearchContent.link), ("FILE", .file), ("gif", .image), ("video", .video), ("voice", .audio),
    ])
    func parsesContentTypes(_ name: String, _ content: SearchContent) {
        #expect(parse("has:\(name)").contents == [content])
    }

    @Test func beforeEndsAtTheStartOfThePeriod() {
        #expect(parse("before:2024").until == day(2024, 1, 1))
        #expect(parse("before:2024-05").until == day(2024, 5, 1))
        #expect(parse("before:2024-05-31").until == day(2024, 5, 31))
        #expect(parse("before:today").until == day(2026, 3, 1))
        #expect(parse("before:yesterday before:2026").until == day(2026, 1, 1), "the narrower one")
    }

    @Test func afterBeginsAtTheEndOfThePeriod() {
        #expect(parse("after:2024").from == day(2025, 1, 1))
        #expect(parse("after:2024-12").from == day(2025, 1, 1))
        #expect(parse("after:2024-02-29").from == day(2024, 3, 1))
        #expect(parse("after:yesterday").from == day(2026, 3, 1))
        #expect(parse("after:2020 after:2024").from == day(2025, 1, 1), "the narrower one")
    }

    @Test(arguments: ["2024-13", "2024-02-30", "24-01-01", "soon", "2024-", "2024-1-2-3", "-", "２０２４", "0000", "+202"])
    func invalidDateIsReported(_ value: String) {
        #expect(parse("x before:\(value)").problems == [.date(value)])
        #expect(parse("after:\(value)").from == nil)
    }

    @Test(arguments: ["from", "in", "before", "after", "has"])
    func filterWithoutAValueIsReported(_ key: String) {
        #expect(parse("\(key):").problems == [.missingValue(key)])
        #expect(parse("\(key):\"\" x").problems == [.missingValue(key)])
    }

    @Test func randomTextIsParsed() {
        var random = SeededGenerator(seed: 80)
        let parts = ["from:", "in:", "\"", "before:", "2024-", "02", "has:", " ", "“", "x", ":", "\0", "e\u{301}", "🎉"]
        for _ in 0..<2000 {
            let typed = (0..<8).compactMap { _ in parts.randomElement(using: &random) }.joined()
            let syntax = parse(typed)
            #expect(!(syntax.senders + syntax.rooms).contains(""), "\(typed.debugDescription)")
            // The remaining text has no filters: parsing it again changes nothing.
            let again = parse(syntax.text)
            #expect(again.text == syntax.text, "\(typed.debugDescription)")
            #expect(again.senders.isEmpty && again.rooms.isEmpty, "\(typed.debugDescription)")
        }
    }
}
