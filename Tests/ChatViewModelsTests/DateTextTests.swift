import ChatCore
import ChatTestSupport
import ChatViewModels
import Foundation
import Testing

/// The formats of dates.
@MainActor struct DateTextTests {
    private let text = DateText(.untranslated, isTwelveHour: { false }) { "<\($1)>" }

    @Test("A time has the desktop’s clock, as it is at that moment")
    func timesFollowTheClock() {
        let setting = Recorder<Bool>()
        let text = DateText(.untranslated, isTwelveHour: { !setting.values.isEmpty }) { $1 }
        #expect(text.time(Fixtures.date) == "%H:%M")
        setting.record(true)
        #expect(text.time(Fixtures.date) == "%-I:%M %p")
        #expect(text.brief(Fixtures.date, .today) == "%-I:%M %p")
    }

    @Test("A divider names the day in full")
    func dividers() {
        #expect(text.day(Fixtures.date, .today) == "Today")
        #expect(text.day(Fixtures.date, .yesterday) == "Yesterday")
        #expect(text.day(Fixtures.date, .thisWeek) == "<%A>")
        #expect(text.day(Fixtures.date, .other(sameYear: true)) == "<%B %-d>")
        #expect(text.day(Fixtures.date, .other(sameYear: false)) == "<%B %-d, %Y>")
    }

    @Test("A list has the shortest form that is not ambiguous")
    func lists() {
        #expect(text.brief(Fixtures.date, .today) == "<%H:%M>")
        #expect(text.brief(Fixtures.date, .yesterday) == "Yesterday")
        #expect(text.brief(Fixtures.date, .thisWeek) == "<%a>")
        #expect(text.brief(Fixtures.date, .other(sameYear: true)) == "<%b %-d>")
        #expect(text.brief(Fixtures.date, .other(sameYear: false)) == "<%x>")
    }

    @Test("The full form has the day and the time, without the padding of some locales")
    func fullDates() {
        #expect(text.full(Fixtures.date) == "<%A, %B %-d, %Y>, <%H:%M>")
        let padded = DateText(.untranslated, isTwelveHour: { false }) { " \($1)" }
        #expect(padded.full(Fixtures.date) == "%A, %B %-d, %Y, %H:%M")
    }
}
