import ChatCore

/// `||text||`, the mark for spoilers in chats, which Markdown does not know.
enum SpoilerMarks {
    /// The text with what stands between two marks covered; marks without a partner stay text.
    static func applied(to text: InlineText) -> InlineText {
        let marks = text.runs.map { canHoldMarks($0) ? Self.marks(in: $0.text) : [] }
        let count = marks.reduce(0) { $0 + $1.count }
        guard count >= 2 else { return text }
        var left = count - count % 2
        var isCovered = false
        var result = InlineText()
        for (run, marks) in zip(text.runs, marks) {
            var start = run.text.utf8.startIndex
            for mark in marks.prefix(left) {
                result.append(covered(run.with(run.text[start..<mark]), isCovered))
                start = run.text.utf8.index(mark, offsetBy: 2)
                isCovered.toggle()
            }
            left -= min(left, marks.count)
            let rest = start == run.text.startIndex ? run : run.with(run.text[start...])
            result.append(covered(rest, isCovered))
        }
        return result
    }

    private static func marks(in text: String) -> [String.Index] {
        let bytes = text.utf8
        var found: [String.Index] = []
        var last: String.Index?
        for place in bytes.indices {
            guard bytes[place] == UInt8(ascii: "|") else {
                last = nil
                continue
            }
            if let first = last {
                found.append(first)
                last = nil
            } else {
                last = place
            }
        }
        return found
    }

    private static func canHoldMarks(_ run: InlineRun) -> Bool {
        !run.style.contains(.code) && run.image == nil && run.mention == nil
            && run.text.utf8.contains(UInt8(ascii: "|"))
    }

    private static func covered(_ run: InlineRun, _ isCovered: Bool) -> InlineRun {
        guard isCovered else { return run }
        var run = run
        run.spoiler = Spoiler()
        return run
    }
}
