import Foundation

/// The start of a message in WhatsApp's text export: `[31.12.2019, 23:59:59] ` on iOS, `31/12/2019, 23:59 - ` on
/// Android, with localized date orders, digits and words.
struct WhatsAppLine: Equatable {
    /// The three numbers of the date, as written.
    var day: [Int]
    /// Whether the first number has four digits.
    var hasYearFirst: Bool
    var separator: Unicode.Scalar
    var hour: Int
    var minute: Int
    var second: Int
    /// Whether the time has an AM or PM marker.
    var isTwelveHours: Bool
    var isBracketed: Bool
    /// The text after date and time.
    var rest: Substring

    /// - Returns: `nil` for a line that does not begin a message.
    init?(_ line: Substring) {
        var scanner = Scanner(line)
        scanner.skip(where: WhatsAppLine.isMark)
        isBracketed = scanner.accept("[")
        guard let first = scanner.number(), let separator = scanner.separator(), let second = scanner.number(),
            scanner.separator() == separator, let third = scanner.number()
        else { return nil }
        day = [first.value, second.value, third.value]
        hasYearFirst = first.digits == 4
        self.separator = separator
        guard hasYearFirst || [2, 4].contains(third.digits) else { return nil }
        _ = scanner.accept(".")
        guard let time = WhatsAppLine.time(&scanner) else { return nil }
        (hour, minute, self.second, isTwelveHours) = time
        if isBracketed {
            guard scanner.accept("]") else { return nil }
            scanner.skip { $0 == " " || WhatsAppLine.isMark($0) }
        } else {
            scanner.skip(where: WhatsAppLine.isBlank)
            guard scanner.accept("-") || scanner.accept("–"), scanner.accept(" ") else { return nil }
        }
        rest = scanner.rest
    }

    /// Parses the time after the date. A word such as "à" or "at" may precede it, and an AM or PM marker may precede or
    /// follow it.
    private static func time(
        _ scanner: inout Scanner
    ) -> (hour: Int, minute: Int, second: Int, isTwelveHours: Bool)? {
        _ = scanner.accept(",") || scanner.accept("،")
        scanner.skip(where: isBlank)
        var half = scanner.dayHalf()
        if half == nil { scanner.skipWord() }
        guard let hour = scanner.number(), scanner.accept(":") || scanner.accept("."), let minute = scanner.number()
        else {
            return nil
        }
        var second = 0
        if scanner.accept(":") || scanner.accept(".") {
            guard let number = scanner.number() else { return nil }
            second = number.value
        }
        scanner.skip(where: isBlank)
        half = half ?? scanner.dayHalf()
        scanner.skip(where: isBlank)
        var hours = hour.value
        if let half {
            guard (0...12).contains(hours) else { return nil }
            hours = hours % 12 + (half ? 12 : 0)
        }
        guard hours < 24, minute.value < 60, second < 61 else { return nil }
        return (hours, minute.value, second, half != nil)
    }

    static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        (0x200E...0x200F).contains(scalar.value) || (0x202A...0x202E).contains(scalar.value) || scalar.value == 0xFEFF
    }

    static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || scalar.value == 0xA0 || scalar.value == 0x202F || isMark(scalar)
    }
}

/// Scans the start of a line.
private struct Scanner {
    private let scalars: Substring.UnicodeScalarView
    private var index: Substring.UnicodeScalarView.Index
    private let line: Substring

    init(_ line: Substring) {
        self.line = line
        scalars = line.unicodeScalars
        index = scalars.startIndex
    }

    var rest: Substring { line[index...] }
    private var next: Unicode.Scalar? { index < scalars.endIndex ? scalars[index] : nil }

    mutating func accept(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        index = scalars.index(after: index)
        return true
    }

    mutating func skip(where isSkipped: (Unicode.Scalar) -> Bool) {
        while let next, isSkipped(next) { index = scalars.index(after: index) }
    }

    /// Parses a number of one to four decimal digits of any script.
    mutating func number() -> (value: Int, digits: Int)? {
        var (value, digits) = (0, 0)
        skip(where: WhatsAppLine.isMark)
        while let next, digits < 5 {
            guard let digit = Self.digit(next) else { break }
            value = value * 10 + digit
            digits += 1
            index = scalars.index(after: index)
        }
        return (1...4).contains(digits) ? (value, digits) : nil
    }

    private static func digit(_ scalar: Unicode.Scalar) -> Int? {
        if ("0"..."9").contains(scalar) { return Int(scalar.value) - 0x30 }
        guard scalar.value > 0x7F, scalar.properties.numericType == .decimal else { return nil }
        return scalar.properties.numericValue.map { Int($0) }
    }

    mutating func separator() -> Unicode.Scalar? {
        skip(where: WhatsAppLine.isMark)
        let found: Unicode.Scalar? = next
        guard let found, "/.-".unicodeScalars.contains(found) else { return nil }
        index = scalars.index(after: index)
        // "31. 12. 2019", as in Czech and Slovenian.
        skip(where: WhatsAppLine.isBlank)
        return found
    }

    /// Parses an AM or PM marker, such as "PM", "p. m." or "下午". Returns whether it means PM, or `nil` without one.
    mutating func dayHalf() -> Bool? {
        let start = index
        for (word, isSecond) in [("上午", false), ("下午", true), ("오전", false), ("오후", true), ("午前", false), ("午後", true)]
        {
            if line[index...].hasPrefix(word) {
                index = scalars.index(index, offsetBy: word.unicodeScalars.count)
                skip(where: WhatsAppLine.isBlank)
                return isSecond
            }
        }
        guard let letter = next?.properties.lowercaseMapping,
            letter == "a" || letter == "p" || letter == "م" || letter == "ص"
        else { return nil }
        index = scalars.index(after: index)
        // Arabic uses a single letter.
        if letter == "م" || letter == "ص" { return letter == "م" }
        _ = accept(".")
        skip(where: WhatsAppLine.isBlank)
        guard accept("m") || accept("M") else {
            index = start
            return nil
        }
        _ = accept(".")
        return letter == "p"
    }

    /// Skips a word such as "à", "at" or "um".
    mutating func skipWord() {
        let start = index
        skip { $0.properties.isAlphabetic }
        guard index > start else { return }
        skip(where: WhatsAppLine.isBlank)
    }
}
