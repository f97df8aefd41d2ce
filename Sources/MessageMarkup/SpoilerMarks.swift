import ChatCore

/// `||text||`, the mark for spoilers in chats, which Markdown does not know.
enum SpoilerMarks {
    private static let mark = "||"

    /// The text with what stands between two marks covered; marks without a partner stay text.
    static func applied(to text: InlineText) -> InlineText {
        let count = text.runs.reduce(0) { $0 + (canHoldMarks($1) ? $1.text.ranges(of: mark).count : 0) }
        guard count >= 2 else { return text }
        var left = count - count % 2
        var isCovered = false
        var result = InlineText()
        for run in text.runs {
            guard canHoldMarks(run) else {
                result.append(covered(run, isCovered))
                continue
            }
            var rest = Substring(run.text)
            while left > 0, let range = rest.firstRange(of: mark) {
                result.append(covered(run.with(rest[..<range.lowerBound]), isCovered))
                rest = rest[range.upperBound...]
                isCovered.toggle()
                left -= 1
            }
            result.append(covered(run.with(rest), isCovered))
        }
        return result
    }

    private static func canHoldMarks(_ run: InlineRun) -> Bool {
        !run.style.contains(.code) && run.image == nil && run.text.utf8.contains(UInt8(ascii: "|"))
    }

    private static func covered(_ run: InlineRun, _ isCovered: Bool) -> InlineRun {
        guard isCovered else { return run }
        var run = run
        run.spoiler = Spoiler()
        return run
    }
}
