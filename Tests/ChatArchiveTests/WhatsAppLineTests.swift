import Foundation
import Testing

@testable import ChatArchive

@Suite struct WhatsAppLineTests {
    /// Message headers in many languages: date, time, and the rest of the line.
    @Test(arguments: [
        ("31/12/2019, 23:59 - Ann: x", [31, 12, 2019], [23, 59, 0], "Ann: x"),
        ("12/31/19, 11:59 PM - Ann: x", [12, 31, 19], [23, 59, 0], "Ann: x"),
        ("12/31/19, 12:05 AM - Ann: x", [12, 31, 19], [0, 5, 0], "Ann: x"),
        ("31.12.19, 23:59 - Ann: x", [31, 12, 19], [23, 59, 0], "Ann: x"),
        ("2019-12-31, 11:59 p.m. - Ann: x", [2019, 12, 31], [23, 59, 0], "Ann: x"),
        ("31/12/19 11:59 p. m. - Ann: x", [31, 12, 19], [23, 59, 0], "Ann: x"),
        ("31/12/2019 à 23:59 - Ann: x", [31, 12, 2019], [23, 59, 0], "Ann: x"),
        ("31.12.2019 klo 23.59 - Ann: x", [31, 12, 2019], [23, 59, 0], "Ann: x"),
        ("31-12-2019 23:59 - Ann: x", [31, 12, 2019], [23, 59, 0], "Ann: x"),
        ("2019/12/31 下午11:59 - Ann: x", [2019, 12, 31], [23, 59, 0], "Ann: x"),
        ("[31/12/2019, 23:59:58] Ann: x", [31, 12, 2019], [23, 59, 58], "Ann: x"),
        ("\u{200E}[12/31/19, 11:59:58\u{202F}PM] Ann: x", [12, 31, 19], [23, 59, 58], "Ann: x"),
        ("[31. 12. 2019 23:59:58] Ann: x", [31, 12, 2019], [23, 59, 58], "Ann: x"),
        ("[2019/12/31 下午11:59:58] Ann: x", [2019, 12, 31], [23, 59, 58], "Ann: x"),
        ("\u{200F}٣١/١٢/٢٠١٩, ١١:٥٩ م - Ann: x", [31, 12, 2019], [23, 59, 0], "Ann: x"),
        ("१/२/२०२०, ०९:०५ - Ann: x", [1, 2, 2020], [9, 5, 0], "Ann: x"),
    ])
    func parsesMessageHeaders(_ line: String, _ day: [Int], _ time: [Int], _ rest: String) throws {
        let read = try #require(WhatsAppLine(line[...]))
        #expect(read.day == day)
        #expect([read.hour, read.minute, read.second] == time)
        #expect(read.rest == rest)
    }

    @Test(arguments: [
        "", "hello", "31/12/2019", "31/12/2019, 23:59", "31/12/2019, 23:59 Ann: x", "[31/12/2019, 23:59:58 Ann: x",
        "31/12-2019, 23:59 - Ann: x", "31/12/2019, 25:59 - Ann: x", "31/12/2019, 23:60 - Ann: x", "1/2/3, 10:00 - A: x",
        "99999/12/31, 23:59 - A: x", "12/31/19, 13:05 PM - Ann: x", "on 31/12/2019, 23:59 - Ann: x",
    ])
    func rejectsLinesThatAreNotMessageHeaders(_ line: String) {
        #expect(WhatsAppLine(line[...]) == nil)
    }

    private func order(_ lines: String...) -> WhatsAppDates.Order? {
        var dates = WhatsAppDates()
        for line in lines { if let line = WhatsAppLine(line[...]) { dates.note(line) } }
        return dates.order
    }

    @Test func infersOrderOfDayAndMonth() {
        #expect(order("01/02/2020, 10:00 - A: x", "13/02/2020, 10:00 - A: x") == .dayFirst)
        #expect(order("01/02/2020, 10:00 - A: x", "02/13/2020, 10:00 - A: x") == .monthFirst)
        #expect(order("2020-01-02, 10:00 - A: x") == .yearFirst)
        #expect(
            order("01/03/2020, 10:00 - A: x", "02/03/2020, 10:00 - A: x", "01/04/2020, 10:00 - A: x") == .dayFirst,
            "time goes on")
        #expect(
            order("03/01/2020, 10:00 - A: x", "03/02/2020, 10:00 - A: x", "04/01/2020, 10:00 - A: x") == .monthFirst)
        #expect(order("1/2/20, 10:00 AM - A: x") == .monthFirst, "as in the United States")
        #expect(order("01.02.20, 10:00 - A: x") == .dayFirst)
        #expect(order("13/13/2020, 10:00 - A: x") == nil)
    }

    @Test func rejectsInvalidDates() {
        for (year, month, day) in [(2023, 2, 29), (2024, 13, 1), (2024, 0, 1), (2024, 4, 31), (0, 1, 1)] {
            #expect(
                ParsedDate.date(
                    year: year, month: month, day: day, hour: 0, minute: 0, second: 0, in: ArchiveFixture.zone) == nil)
        }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = ArchiveFixture.zone
        for (year, month, day) in [(1970, 1, 1), (2000, 2, 29), (2024, 2, 29), (2100, 3, 1), (1999, 12, 31)] {
            let expected = calendar.date(from: DateComponents(year: year, month: month, day: day, hour: 7))
            #expect(
                ParsedDate.date(
                    year: year, month: month, day: day, hour: 7, minute: 0, second: 0, in: ArchiveFixture.zone)
                    == expected)
        }
    }
}
