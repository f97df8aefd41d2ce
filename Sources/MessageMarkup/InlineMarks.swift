import ChatCore
import Composer

/// What is found in a text after its markup was parsed: spoilers, addresses, names; and what links must warn of.
struct InlineMarks: Sendable {
    /// Whether `||text||` is a spoiler.
    var readsSpoilers = false
    var names = MentionNames()
    /// What stands for a bar that was escaped.
    var bar: Unicode.Scalar?

    func applied(to text: InlineText) -> InlineText {
        guard !text.isEmpty else { return text }
        var text = text
        let signs = Signs(in: text)
        if readsSpoilers, signs.contains(.bar) { text = SpoilerMarks.applied(to: text) }
        if let bar { text = Self.unescaped(text, bar) }
        if signs.contains(.at), !names.isEmpty { text = split(text, at: names.mentions(in:)) }
        if !signs.isDisjoint(with: [.dot, .colon]) { text = split(text, at: AddressFinder.links(in:)) }
        text.judgeLinks()
        return text
    }

    /// Characters without which there is nothing to be found.
    fileprivate struct Signs: OptionSet {
        let rawValue: UInt8

        static let bar = Signs(rawValue: 1)
        static let at = Signs(rawValue: 2)
        static let dot = Signs(rawValue: 4)
        static let colon = Signs(rawValue: 8)

        fileprivate static let ofByte = (0..<256).map { byte -> UInt8 in
            switch UInt8(byte) {
            case UInt8(ascii: "|"): bar.rawValue
            case UInt8(ascii: "@"): at.rawValue
            case UInt8(ascii: "."): dot.rawValue
            case UInt8(ascii: ":"): colon.rawValue
            default: 0
            }
        }
    }

    private static func unescaped(_ text: InlineText, _ bar: Unicode.Scalar) -> InlineText {
        let sign = String(Character(bar))
        guard text.runs.contains(where: { $0.text.contains(sign) }) else { return text }
        return InlineText(text.runs.map { $0.with($0.text.replacing(sign, with: "|")) })
    }

    /// Runs that are neither code nor a link already are cut where something was found in them.
    private func split(_ text: InlineText, at find: (String) -> [(range: Range<Int>, mark: Mark)]) -> InlineText {
        let found = text.runs.map { run -> [(range: Range<Int>, mark: Mark)] in
            let isOpen = run.link == nil && run.mention == nil && run.image == nil && !run.style.contains(.code)
            return isOpen ? find(run.text) : []
        }
        guard !found.allSatisfy(\.isEmpty) else { return text }
        var result = InlineText()
        for (run, found) in zip(text.runs, found) {
            guard !found.isEmpty else {
                result.append(run)
                continue
            }
            let bytes = run.text.utf8
            var place = 0
            var index = bytes.startIndex
            func take(_ end: Int) -> Substring {
                let next = bytes.index(index, offsetBy: end - place)
                defer { (place, index) = (end, next) }
                return run.text[index..<next]
            }
            for (range, mark) in found {
                result.append(run.with(take(range.lowerBound)))
                var marked = run.with(take(range.upperBound))
                switch mark {
                case .link(let target):
                    marked.link = BodyLink(unjudged: target)
                    marked.mention = target.mention
                case .mention(let mention): marked.mention = mention
                }
                result.append(marked)
            }
            result.append(run.with(run.text[index...]))
        }
        return result
    }

    enum Mark {
        case link(LinkTarget)
        case mention(MentionTarget)
    }
}

extension InlineMarks.Signs {
    fileprivate init(in text: InlineText) {
        let table = Self.ofByte
        var signs: UInt8 = 0
        for run in text.runs {
            var text = run.text
            text.withUTF8 { bytes in
                for byte in bytes { signs |= table[Int(byte)] }
            }
        }
        self.init(rawValue: signs)
    }
}
