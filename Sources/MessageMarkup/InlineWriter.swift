import ChatCore
import Composer

/// How carefully text is written as Markdown. The least that reads as it should is the best to edit.
enum InlineCare: Int, Comparable, CaseIterable {
    /// Text as it is, looks by signs.
    case none
    /// Each character that might be markup is escaped.
    case escapes
    /// And looks are marks beside the text.
    case marks

    static func < (one: InlineCare, other: InlineCare) -> Bool { one.rawValue < other.rawValue }
}

/// Writes one text of a body as Markdown.
struct InlineWriter {
    /// Where it stands: what is markup depends on it.
    enum Place {
        case paragraph, item, heading, cell
    }

    static func written(_ text: InlineText, as place: Place, _ leastCare: InlineCare) -> MarkedText {
        // Nearly every text.
        if place != .cell, text.runs.count == 1, !text.runs[0].isMarked, PlainScan.isPlain(text.runs[0].text) {
            return MarkedText(text.runs[0].text)
        }
        // A bar in a cell ends it.
        let least = max(leastCare, place == .cell ? .escapes : .none)
        for care in InlineCare.allCases where care >= least && care != .marks {
            var writer = InlineWriter(text, care: care)
            writer.write()
            if place != .cell || !writer.hasOpenBar, reads(writer.output, as: text, place) { return writer.output }
        }
        var writer = InlineWriter(text, care: .marks)
        writer.write()
        return writer.output
    }

    /// Whether the text in its place is read as it was meant.
    private static func reads(_ output: MarkedText, as wanted: InlineText, _ place: Place) -> Bool {
        var source = MarkedText()
        let expected: BodyBlock
        switch place {
        case .paragraph, .cell: expected = .text(wanted)
        case .item:
            source.append("- ")
            expected = .list(BodyList(items: [BodyList.Item([.text(wanted)])]))
        case .heading:
            source.append("# ")
            expected = .heading(level: 1, wanted)
        }
        source.append(output.indented(by: place == .item ? "  " : ""))
        let (written, isWhole) = source.written()
        let body = MessageMarkup.body(of: written)
        let other = MessageBody(blocks: [expected])
        return isWhole
            && (body == other || body.canonical(isCollapsed: true) == other.canonical(isCollapsed: true))
    }

    // MARK: Parts

    /// One run, or the runs of one mention.
    private struct Part {
        var runs: ArraySlice<InlineRun>
        /// What signs say of all of it.
        var signs: Signs
    }

    private struct Signs: Equatable {
        var style: InlineStyle = []
        var link: LinkTarget?
        var isSpoiler = false
    }

    /// A sign that is open in the output.
    private enum Sign: Equatable {
        case spoiler
        case link(LinkTarget)
        case bold, strike
        /// - byte: an underscore, or a star.
        case italic(UInt8)
        case code(fence: String, pad: String)
    }

    /// What can be written by signs.
    private static let signed: InlineStyle = [.bold, .italic, .strike, .code]

    private let care: InlineCare
    private let parts: [Part]
    private var open: [Sign] = []
    /// Where the marks of the run before end: one that goes on covers the signs between.
    private var markEnds: [TextStyle: Int] = [:]
    private(set) var output = MarkedText()
    /// Whether a bar was written that would end a cell.
    private(set) var hasOpenBar = false

    private init(_ text: InlineText, care: InlineCare) {
        self.care = care
        var parts = Self.parts(of: Self.withBareSpaces(text), care)
        if care < .marks {
            for letters in [InlineStyle.bold, .italic, .strike] { Self.dropSigns(letters, from: &parts) }
        }
        self.parts = parts
    }

    /// Where a look begins within a word, or ends beside one with a sign of punctuation, signs would be text.
    private static func dropSigns(_ letters: InlineStyle, from parts: inout [Part]) {
        var start = 0
        while start < parts.count {
            guard parts[start].signs.style.contains(letters) else {
                start += 1
                continue
            }
            var end = start + 1
            while end < parts.count, parts[end].signs.style.contains(letters) { end += 1 }
            let before = start > 0 ? Beside(parts[start - 1], isEnd: true) : .space
            let after = end < parts.count ? Beside(parts[end], isEnd: false) : .space
            let (first, last) = (Beside(parts[start], isEnd: false), Beside(parts[end - 1], isEnd: true))
            let opens = first != .space && (before <= .punctuation || first != .punctuation && before != .word)
            let closes = last != .space && (after <= .punctuation || last != .punctuation)
            if !opens || !closes { for index in start..<end { parts[index].signs.style.remove(letters) } }
            start = end
        }
    }

    /// What stands next to a sign, as far as the rules of CommonMark tell it apart.
    private enum Beside: Int, Comparable {
        case space, punctuation
        /// A letter of a script without spaces, or a name.
        case letter
        case word

        init(_ part: Part, isEnd: Bool) {
            let run = isEnd ? part.runs.last : part.runs.first
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

    private static func parts(of text: InlineText, _ care: InlineCare) -> [Part] {
        text.groups { Group(mention: $0.mention, link: $0.link?.target) }.flatMap { group -> [Part] in
            let isMention = group.key.mention != nil && !isBare(group.runs)
            let pieces = isMention ? [group.runs] : group.runs.indices.map { group.runs[$0...$0] }
            return pieces.map { runs in
                var signs = Signs()
                guard care < .marks, let first = runs.first else { return Part(runs: runs, signs: signs) }
                signs.style = runs.reduce(signed) { $0.intersection($1.style) }
                // Code has no names in it, and no breaks.
                if runs.contains(where: { $0.text.utf8.contains(0x0A) || $0.text.utf8.contains(0x60) && isMention }) {
                    signs.style.remove(.code)
                }
                if !isMention, !isBare(group.runs) { signs.link = group.key.link }
                signs.isSpoiler = runs.allSatisfy { $0.spoiler != nil && $0.spoiler == first.spoiler }
                if first.spoiler?.reason.isEmpty == false { signs.isSpoiler = false }
                return Part(runs: runs, signs: signs)
            }
        }
    }

    private struct Group: Equatable {
        var mention: MentionTarget?
        var link: LinkTarget?
    }

    /// Whether it is an address that is found in any text.
    private static func isBare(_ runs: ArraySlice<InlineRun>) -> Bool {
        guard runs.count == 1, let run = runs.first, let target = run.link?.target else { return false }
        let found = AddressFinder.links(in: run.text)
        guard found.count == 1, found[0].range == 0..<run.text.utf8.count, case .link(target) = found[0].mark else {
            return false
        }
        return true
    }

    /// White space at the ends of what looks like something has no look, so that signs stand next to letters.
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
            func space(_ bytes: Substring.UTF8View, beside neighbour: Int) -> InlineRun {
                var space = run.with(Substring(bytes))
                let style = runs.indices.contains(neighbour) ? runs[neighbour].style : []
                let spoiler = runs.indices.contains(neighbour) ? runs[neighbour].spoiler : nil
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

    // MARK: Signs

    private mutating func write() {
        let ends = extents()
        for (index, part) in parts.enumerated() {
            close(to: part.signs)
            open(part.signs, at: index, ends[index])
            write(part, isFirst: index == 0)
        }
        while let last = open.popLast() { close(last) }
    }

    /// For each part how far each of its signs goes on: what lasts longer begins first.
    private struct Extent {
        var spoiler = 0, link = 0, bold = 0, strike = 0, italic = 0
    }

    private func extents() -> [Extent] {
        var ends = [Extent](repeating: Extent(), count: parts.count)
        for index in parts.indices.reversed() {
            let (signs, next) = (parts[index].signs, index + 1)
            let after = next < parts.count ? parts[next].signs : Signs()
            let known = next < parts.count ? ends[next] : Extent()
            ends[index] = Extent(
                spoiler: signs.isSpoiler && after.isSpoiler ? known.spoiler : next,
                link: signs.link != nil && signs.link == after.link ? known.link : next,
                bold: signs.style.contains(.bold) && after.style.contains(.bold) ? known.bold : next,
                strike: signs.style.contains(.strike) && after.style.contains(.strike) ? known.strike : next,
                italic: signs.style.contains(.italic) && after.style.contains(.italic) ? known.italic : next)
        }
        return ends
    }

    /// Ends what the next part does not have, with all that began in it.
    private mutating func close(to signs: Signs) {
        let kept = open.prefix { sign in
            switch sign {
            case .spoiler: signs.isSpoiler
            case .link(let target): signs.link == target
            case .bold: signs.style.contains(.bold)
            case .strike: signs.style.contains(.strike)
            case .italic: signs.style.contains(.italic)
            case .code: false
            }
        }.count
        while open.count > kept { if let last = open.popLast() { close(last) } }
    }

    private mutating func open(_ signs: Signs, at index: Int, _ ends: Extent) {
        var missing: [(sign: Sign, end: Int)] = []
        func isOpen(_ matches: (Sign) -> Bool) -> Bool { open.contains(where: matches) }
        if signs.isSpoiler, !isOpen({ $0 == .spoiler }) { missing.append((.spoiler, ends.spoiler)) }
        if let link = signs.link, !isOpen({ $0 == .link(link) }) { missing.append((.link(link), ends.link)) }
        if signs.style.contains(.bold), !isOpen({ $0 == .bold }) { missing.append((.bold, ends.bold)) }
        if signs.style.contains(.strike), !isOpen({ $0 == .strike }) { missing.append((.strike, ends.strike)) }
        if signs.style.contains(.italic), !isOpen({ if case .italic = $0 { true } else { false } }) {
            // Stars beside stars are hard to read, for people too.
            missing.append((.italic(UInt8(ascii: "*")), ends.italic))
        }
        let isBeside = missing.contains { $0.sign == .bold } || open.last == .bold
        for (sign, _) in missing.sorted(by: { $0.end > $1.end }) {
            if case .italic = sign, isBeside { start(.italic(UInt8(ascii: "_"))) } else { start(sign) }
        }
        guard signs.style.contains(.code) else { return }
        let text = parts[index].runs.reduce(into: "") { $0 += $1.text }
        let fence = String(repeating: "`", count: text.longestRun(of: 0x60) + 1)
        let isPadded =
            text.utf8.first == 0x60 || text.utf8.last == 0x60 || (text.utf8.first == 0x20 && text.utf8.last == 0x20)
        start(.code(fence: fence, pad: isPadded ? " " : ""))
    }

    private mutating func start(_ sign: Sign) {
        open.append(sign)
        switch sign {
        case .spoiler: putBars()
        case .link: output.append("[")
        case .bold: output.append("**")
        case .strike: output.append("~~")
        case .italic(let byte): output.append(String(UnicodeScalar(byte)))
        case .code(let fence, let pad): output.append(fence + pad)
        }
    }

    private mutating func close(_ sign: Sign) {
        switch sign {
        case .spoiler: putBars()
        case .link(let target): output.append("](" + Self.destination(target.address) + ")")
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

    /// Between angle brackets where parentheses would end it; what might be an entity is none.
    private static func destination(_ address: String) -> String {
        var depth = 0
        let isBalanced = address.utf8.allSatisfy { byte in
            depth += byte == UInt8(ascii: "(") ? 1 : byte == UInt8(ascii: ")") ? -1 : 0
            return (0...20).contains(depth)
        }
        let written = address.replacing("&", with: "\\&")
        let text = address.utf8.contains(UInt8(ascii: ";")) ? written : address
        return isBalanced && depth == 0 ? text : "<" + text + ">"
    }

    // MARK: Text

    private mutating func write(_ part: Part, isFirst: Bool) {
        let isMention = part.runs.count > 1 || (part.runs.first?.mention != nil && !Self.isBare(part.runs))
        let isCode = part.signs.style.contains(.code)
        let start = output.length
        for run in part.runs {
            let runStart = output.length
            if isMention {
                output.append(run.text)
            } else if isCode {
                if run.text.utf8.contains(UInt8(ascii: "|")) { hasOpenBar = true }
                output.append(run.text)
            } else if care == .none || (Self.isBare(part.runs) && care < .marks) {
                output.append(run.text)
            } else {
                output.append(run.text.escaped(isLineStart: output.isEmpty || output.text.utf8.last == 0x0A))
            }
            mark(run, from: runStart, but: part.signs, isMention: isMention)
        }
        if isMention, let mention = part.runs.first?.mention { output.mark(from: start, .mention(mention)) }
    }

    /// What signs do not say of a run.
    private mutating func mark(_ run: InlineRun, from start: Int, but signs: Signs, isMention: Bool) {
        let style = run.style.subtracting(signs.style)
        var marks = Self.styles.filter { style.contains($0.0) }.map(\.1)
        if let color = run.foreground { marks.append(.foreground(color.hexadecimal)) }
        if let color = run.background { marks.append(.background(color.hexadecimal)) }
        if let spoiler = run.spoiler, !signs.isSpoiler { marks.append(.spoiler(reason: spoiler.reason)) }
        let isBare = care < .marks && Self.isBare([run])
        if let link = run.link, !isMention, signs.link == nil, !isBare {
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

extension String {
    /// With a backslash before each character that might be markup.
    func escaped(isLineStart: Bool) -> String {
        var result: [UInt8] = []
        var isStart = isLineStart
        var digits = 0
        for byte in utf8 {
            let isMarkup =
                switch byte {
                case UInt8(ascii: "\\"), UInt8(ascii: "`"), UInt8(ascii: "*"), UInt8(ascii: "_"), UInt8(ascii: "~"),
                    UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "<"), UInt8(ascii: "&"), UInt8(ascii: "|"),
                    UInt8(ascii: "#"), UInt8(ascii: "!"):
                    true
                case UInt8(ascii: ">"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "="), UInt8(ascii: ":"):
                    isStart
                case UInt8(ascii: "."), UInt8(ascii: ")"): digits > 0
                default: false
                }
            if isMarkup { result.append(UInt8(ascii: "\\")) }
            result.append(byte)
            if byte == 0x0A {
                (isStart, digits) = (true, 0)
            } else if byte.isDigit, isStart || digits > 0 {
                (isStart, digits) = (false, digits + 1)
            } else if byte != 0x20 {
                (isStart, digits) = (false, 0)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
