import ChatCore
import Composer

/// Writes inline text as Markdown.
struct InlineWriter {
    /// The block that contains the text, which determines what is markup.
    enum Context {
        case paragraph, item, heading, cell
    }

    static func written(_ text: InlineText, as context: Context, _ minCare: InlineCare) -> MarkedText {
        // Fast path for nearly every text.
        if context != .cell, text.runs.count == 1, !text.runs[0].isFormatted, PlainScan.isPlain(text.runs[0].text) {
            return MarkedText(text.runs[0].text)
        }
        // An unescaped `|` would end a cell.
        let effectiveMinCare = max(minCare, context == .cell ? .escapes : .none)
        for care in InlineCare.allCases where care >= effectiveMinCare && care != .marks {
            var writer = InlineWriter(text, care: care)
            writer.write()
            if context != .cell || !writer.hasOpenBar, reads(writer.output, as: text, context) { return writer.output }
        }
        var writer = InlineWriter(text, care: .marks)
        writer.write()
        return writer.output
    }

    /// Whether the written text, parsed in its context, yields the original.
    private static func reads(_ output: MarkedText, as expectedText: InlineText, _ context: Context) -> Bool {
        var source = MarkedText()
        let expected: BodyBlock
        switch context {
        case .paragraph, .cell: expected = .text(expectedText)
        case .item:
            source.append("- ")
            expected = .list(BodyList(items: [BodyList.Item([.text(expectedText)])]))
        case .heading:
            source.append("# ")
            expected = .heading(level: 1, expectedText)
        }
        source.append(output.indented(by: context == .item ? "  " : ""))
        let (written, isWhole) = source.written()
        let body = MessageMarkup.body(of: written)
        let other = MessageBody(blocks: [expected])
        return isWhole
            && (body == other || body.canonical(isCollapsed: true) == other.canonical(isCollapsed: true))
    }

    // MARK: Segments

    /// A run, or all runs of a mention.
    private struct Segment {
        var runs: ArraySlice<InlineRun>
        /// The formatting that delimiters express for all of its runs.
        var delimiters: Delimiters
    }

    private struct Delimiters: Equatable {
        var style: InlineStyle = []
        var link: LinkTarget?
        var isSpoiler = false
    }

    /// A delimiter that is open in the output.
    private enum Delimiter: Equatable {
        case spoiler
        case link(LinkTarget)
        case bold, strike
        /// - byte: `_` or `*`.
        case italic(UInt8)
        case code(fence: String, pad: String)
    }

    /// The styles that Markdown has delimiters for.
    private static let signed: InlineStyle = [.bold, .italic, .strike, .code]

    private let care: InlineCare
    private let segments: [Segment]
    private var open: [Delimiter] = []
    /// The end of each mark of the previous run: a mark that continues covers the delimiters in between.
    private var markEnds: [TextStyle: Int] = [:]
    private(set) var output = MarkedText()
    /// Whether a `|` was written that would end a cell.
    private(set) var hasOpenBar = false

    private init(_ text: InlineText, care: InlineCare) {
        self.care = care
        var segments = Self.segments(of: Self.withBareSpaces(text), care)
        if care < .marks {
            for letters in [InlineStyle.bold, .italic, .strike] { Self.dropDelimiters(letters, from: &segments) }
        }
        self.segments = segments
    }

    /// Drops the delimiters of a style where CommonMark's flanking rules would read them as text, as within a word.
    private static func dropDelimiters(_ letters: InlineStyle, from segments: inout [Segment]) {
        var start = 0
        while start < segments.count {
            guard segments[start].delimiters.style.contains(letters) else {
                start += 1
                continue
            }
            var end = start + 1
            while end < segments.count, segments[end].delimiters.style.contains(letters) { end += 1 }
            let before = start > 0 ? Beside(segments[start - 1], isEnd: true) : .space
            let after = end < segments.count ? Beside(segments[end], isEnd: false) : .space
            let (first, last) = (Beside(segments[start], isEnd: false), Beside(segments[end - 1], isEnd: true))
            let opens = first != .space && (before <= .punctuation || first != .punctuation && before != .word)
            let closes = last != .space && (after <= .punctuation || last != .punctuation)
            if !opens || !closes { for index in start..<end { segments[index].delimiters.style.remove(letters) } }
            start = end
        }
    }

    /// A character class next to a delimiter, as CommonMark's flanking rules distinguish them.
    private enum Beside: Int, Comparable {
        case space, punctuation
        /// A letter of a script without spaces between words, or a mention.
        case letter
        case word

        init(_ segment: Segment, isEnd: Bool) {
            let run = isEnd ? segment.runs.last : segment.runs.first
            guard run?.mention == nil, let text = run?.text,
                let scalar = isEnd ? text.unicodeScalars.last : text.unicodeScalars.first
            else {
                self = .letter
                return
            }
            switch scalar.properties.generalCategory {
            case .spaceSeparator, .lineSeparator, .paragraphSeparator, .control: self = .space
            case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation,
                .finalPunctuation, .otherPunctuation, .mathSymbol, .currencySymbol, .modifierSymbol, .otherSymbol:
                self = .punctuation
            default: self = scalar.value < 0x2E80 ? .word : .letter
            }
        }

        static func < (one: Beside, other: Beside) -> Bool { one.rawValue < other.rawValue }
    }

    private static func segments(of text: InlineText, _ care: InlineCare) -> [Segment] {
        text.groups { Group(mention: $0.mention, link: $0.link?.target) }.flatMap { group -> [Segment] in
            let isMention = group.key.mention != nil && !isBare(group.runs)
            let runGroups = isMention ? [group.runs] : group.runs.indices.map { group.runs[$0...$0] }
            return runGroups.map { runs in
                var delimiters = Delimiters()
                guard care < .marks, let first = runs.first else { return Segment(runs: runs, delimiters: delimiters) }
                delimiters.style = runs.reduce(signed) { $0.intersection($1.style) }
                // Code spans cannot contain mentions or line breaks.
                if runs.contains(where: { $0.text.utf8.contains(0x0A) || $0.text.utf8.contains(0x60) && isMention }) {
                    delimiters.style.remove(.code)
                }
                if !isMention, !isBare(group.runs) { delimiters.link = group.key.link }
                delimiters.isSpoiler = runs.allSatisfy { $0.spoiler != nil && $0.spoiler == first.spoiler }
                if first.spoiler?.reason.isEmpty == false { delimiters.isSpoiler = false }
                return Segment(runs: runs, delimiters: delimiters)
            }
        }
    }

    private struct Group: Equatable {
        var mention: MentionTarget?
        var link: LinkTarget?
    }

    /// Whether the run is a link that ``AddressFinder`` recognizes without markup.
    private static func isBare(_ runs: ArraySlice<InlineRun>) -> Bool {
        guard runs.count == 1, let run = runs.first, let target = run.link?.target else { return false }
        let found = AddressFinder.links(in: run.text)
        guard found.count == 1, found[0].range == 0..<run.text.utf8.count, case .link(target) = found[0].mark else {
            return false
        }
        return true
    }

    /// Removes formatting from white space at the ends of runs, because delimiters must be next to other characters.
    private static func withBareSpaces(_ text: InlineText) -> InlineText {
        let runs = text.runs
        var result = InlineText()
        for (index, run) in runs.enumerated() {
            guard run.mention == nil, !run.style.isDisjoint(with: [.bold, .italic, .strike]) || run.spoiler != nil
            else {
                result.append(run)
                continue
            }
            let bytes = run.text.utf8
            let rest = bytes.drop { $0.isSpace }
            let trailing = rest.reversed().prefix { $0.isSpace }.count
            let core = rest.dropLast(trailing)
            let before = bytes[..<rest.startIndex]
            func space(_ bytes: Substring.UTF8View, beside neighbor: Int) -> InlineRun {
                var space = run.with(Substring(bytes))
                let style = runs.indices.contains(neighbor) ? runs[neighbor].style : []
                let spoiler = runs.indices.contains(neighbor) ? runs[neighbor].spoiler : nil
                space.style.formIntersection(style.union([.underline, .code]))
                if spoiler != run.spoiler { space.spoiler = nil }
                return space
            }
            if core.isEmpty {
                var space = space(bytes[...], beside: index - 1)
                let style = runs.indices.contains(index + 1) ? runs[index + 1].style : []
                space.style.formIntersection(style.union([.underline, .code]))
                result.append(space)
                continue
            }
            if !before.isEmpty { result.append(space(before, beside: index - 1)) }
            result.append(run.with(Substring(core)))
            if trailing > 0 { result.append(space(bytes[core.endIndex...], beside: index + 1)) }
        }
        return result
    }

    // MARK: Delimiters

    private mutating func write() {
        let ends = extents()
        for (index, segment) in segments.enumerated() {
            close(to: segment.delimiters)
            open(segment.delimiters, at: index, ends[index])
            write(segment, isFirst: index == 0)
        }
        while let last = open.popLast() { close(last) }
    }

    /// For each segment, the index where each of its delimiters ends: those that last longest open first.
    private struct Extent {
        var spoiler = 0, link = 0, bold = 0, strike = 0, italic = 0
    }

    private func extents() -> [Extent] {
        var ends = [Extent](repeating: Extent(), count: segments.count)
        for index in segments.indices.reversed() {
            let (delimiters, next) = (segments[index].delimiters, index + 1)
            let after = next < segments.count ? segments[next].delimiters : Delimiters()
            let nextExtent = next < segments.count ? ends[next] : Extent()
            ends[index] = Extent(
                spoiler: delimiters.isSpoiler && after.isSpoiler ? nextExtent.spoiler : next,
                link: delimiters.link != nil && delimiters.link == after.link ? nextExtent.link : next,
                bold: delimiters.style.contains(.bold) && after.style.contains(.bold) ? nextExtent.bold : next,
                strike: delimiters.style.contains(.strike) && after.style.contains(.strike) ? nextExtent.strike : next,
                italic: delimiters.style.contains(.italic) && after.style.contains(.italic) ? nextExtent.italic : next)
        }
        return ends
    }

    /// Closes delimiters that the next segment does not have, and those opened inside them.
    private mutating func close(to delimiters: Delimiters) {
        let remainingCount = open.prefix { delimiter in
            switch delimiter {
            case .spoiler: delimiters.isSpoiler
            case .link(let target): delimiters.link == target
            case .bold: delimiters.style.contains(.bold)
            case .strike: delimiters.style.contains(.strike)
            case .italic: delimiters.style.contains(.italic)
            case .code: false
            }
        }.count
        while open.count > remainingCount { if let last = open.popLast() { close(last) } }
    }

    private mutating func open(_ delimiters: Delimiters, at index: Int, _ ends: Extent) {
        var missing: [(sign: Delimiter, end: Int)] = []
        func isOpen(_ matches: (Delimiter) -> Bool) -> Bool { open.contains(where: matches) }
        if delimiters.isSpoiler, !isOpen({ $0 == .spoiler }) { missing.append((.spoiler, ends.spoiler)) }
        if let link = delimiters.link, !isOpen({ $0 == .link(link) }) { missing.append((.link(link), ends.link)) }
        if delimiters.style.contains(.bold), !isOpen({ $0 == .bold }) { missing.append((.bold, ends.bold)) }
        if delimiters.style.contains(.strike), !isOpen({ $0 == .strike }) { missing.append((.strike, ends.strike)) }
        if delimiters.style.contains(.italic), !isOpen({ if case .italic = $0 { true } else { false } }) {
            // Use `_` next to `**`: `***` is ambiguous and hard to read.
            missing.append((.italic(UInt8(ascii: "*")), ends.italic))
        }
        let isBeside = missing.contains { $0.sign == .bold } || open.last == .bold
        for (delimiter, _) in missing.sorted(by: { $0.end > $1.end }) {
            if case .italic = delimiter, isBeside { start(.italic(UInt8(ascii: "_"))) } else { start(delimiter) }
        }
        guard delimiters.style.contains(.code) else { return }
        let text = segments[index].runs.reduce(into: "") { $0 += $1.text }
        let fence = String(repeating: "`", count: text.longestRun(of: 0x60) + 1)
        let isPadded =
            text.utf8.first == 0x60 || text.utf8.last == 0x60 || (text.utf8.first == 0x20 && text.utf8.last == 0x20)
        start(.code(fence: fence, pad: isPadded ? " " : ""))
    }

    private mutating func start(_ delimiter: Delimiter) {
        open.append(delimiter)
        switch delimiter {
        case .spoiler: putBars()
        case .link: output.append("[")
        case .bold: output.append("**")
        case .strike: output.append("~~")
        case .italic(let byte): output.append(String(UnicodeScalar(byte)))
        case .code(let fence, let pad): output.append(fence + pad)
        }
    }

    private mutating func close(_ delimiter: Delimiter) {
        switch delimiter {
        case .spoiler: putBars()
        case .link(let target): output.append("](" + MarkdownDestination.written(target.address) + ")")
        case .bold: output.append("**")
        case .strike: output.append("~~")
        case .italic(let byte): output.append(String(UnicodeScalar(byte)))
        case .code(let fence, let pad): output.append(pad + fence)
        }
    }

    private mutating func putBars() {
        output.append("||")
        hasOpenBar = true
    }

    // MARK: Text

    private mutating func write(_ segment: Segment, isFirst: Bool) {
        let isMention = segment.runs.count > 1 || (segment.runs.first?.mention != nil && !Self.isBare(segment.runs))
        let isCode = segment.delimiters.style.contains(.code)
        let start = output.length
        for run in segment.runs {
            let runStart = output.length
            if isMention {
                output.append(run.text)
            } else if isCode {
                if run.text.utf8.contains(UInt8(ascii: "|")) { hasOpenBar = true }
                output.append(run.text)
            } else if care == .none || (Self.isBare(segment.runs) && care < .marks) {
                output.append(run.text)
            } else {
                output.append(run.text.escaped(isLineStart: output.isEmpty || output.text.utf8.last == 0x0A))
            }
            mark(run, from: runStart, but: segment.delimiters, isMention: isMention)
        }
        if isMention, let mention = segment.runs.first?.mention { output.mark(from: start, .mention(mention)) }
    }

    /// Adds marks for the formatting of a run that its delimiters do not express.
    private mutating func mark(_ run: InlineRun, from start: Int, but delimiters: Delimiters, isMention: Bool) {
        let style = run.style.subtracting(delimiters.style)
        var marks = Self.styles.filter { style.contains($0.0) }.map(\.1)
        if let color = run.foreground { marks.append(.foreground(color.hexadecimal)) }
        if let color = run.background { marks.append(.background(color.hexadecimal)) }
        if let spoiler = run.spoiler, !delimiters.isSpoiler { marks.append(.spoiler(reason: spoiler.reason)) }
        let isBare = care < .marks && Self.isBare([run])
        if let link = run.link, !isMention, delimiters.link == nil, !isBare {
            marks.append(.link(link.target.address))
        }
        var ends: [TextStyle: Int] = [:]
        for mark in marks {
            output.mark(from: markEnds[mark] ?? start, .style(mark))
            ends[mark] = output.length
        }
        markEnds = ends
    }

    private static let styles: [(InlineStyle, TextStyle)] = [
        (.bold, .bold), (.italic, .italic), (.strike, .strikethrough), (.underline, .underline),
        (.code, .monospace), (.superscript, .rise(5)), (.subscript, .rise(-5)),
    ]
}
