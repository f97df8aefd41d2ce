import ChatCore

/// `||text||`, a spoiler as in other chat clients; not part of CommonMark.
enum SpoilerDelimiters {
    /// Returns the text with spoilers between pairs of delimiters; an unpaired delimiter stays text.
    static func applied(to text: InlineText) -> InlineText {
        let delimiters = text.runs.map { canHoldDelimiters($0) ? Self.delimiters(in: $0.text) : [] }
        let count = delimiters.reduce(0) { $0 + $1.count }
        guard count >= 2 else { return text }
        var remaining = count - count % 2
        var isCovered = false
        var result = InlineText()
        for (run, delimiters) in zip(text.runs, delimiters) {
            var start = run.text.utf8.startIndex
            for delimiter in delimiters.prefix(remaining) {
                result.append(covered(run.with(run.text[start..<delimiter]), isCovered))
                start = run.text.utf8.index(delimiter, offsetBy: 2)
                isCovered.toggle()
            }
            remaining -= min(remaining, delimiters.count)
            let rest = start == run.text.startIndex ? run : run.with(run.text[start...])
            result.append(covered(rest, isCovered))
        }
        return result
    }

    private static func delimiters(in text: String) -> [String.Index] {
        let bytes = text.utf8
        var found: [String.Index] = []
        var last: String.Index?
        for index in bytes.indices {
            guard bytes[index] == UInt8(ascii: "|") else {
                last = nil
                continue
            }
            if let first = last {
                found.append(first)
                last = nil
            } else {
                last = index
            }
        }
        return found
    }

    private static func canHoldDelimiters(_ run: InlineRun) -> Bool {
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
