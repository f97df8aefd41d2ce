import ChatCore
import Composer

/// Annotates parsed text with spoilers, links and mentions, and sets the warnings of its links.
struct InlineAnnotator: Sendable {
    /// Whether `||text||` is a spoiler.
    var readsSpoilers = false
    var names = MentionNames()
    /// The placeholder of an escaped `|`.
    var bar: Unicode.Scalar?

    func applied(to text: InlineText) -> InlineText {
        guard !text.isEmpty else { return text }
        var text = text
        let triggers = Triggers(in: text)
        if readsSpoilers, triggers.contains(.bar) { text = SpoilerDelimiters.applied(to: text) }
        if let bar { text = Self.unescaped(text, bar) }
        if triggers.contains(.at), !names.isEmpty { text = split(text, at: names.mentions(in:)) }
        if !triggers.isDisjoint(with: [.dot, .colon]) { text = split(text, at: AddressFinder.links(in:)) }
        text.judgeLinks()
        return text
    }

    /// Characters without which there is nothing to annotate.
    fileprivate struct Triggers: OptionSet {
        let rawValue: UInt8

        static let bar = Triggers(rawValue: 1)
        static let at = Triggers(rawValue: 2)
        static let dot = Triggers(rawValue: 4)
        static let colon = Triggers(rawValue: 8)

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
        let placeholder = String(Character(bar))
        guard text.runs.contains(where: { $0.text.contains(placeholder) }) else { return text }
        return InlineText(text.runs.map { $0.with($0.text.replacing(placeholder, with: "|")) })
    }

    /// Splits runs at the found ranges, except code, links, mentions and images.
    private func split(_ text: InlineText, at find: (String) -> [(range: Range<Int>, mark: Annotation)]) -> InlineText {
        let found = text.runs.map { run -> [(range: Range<Int>, mark: Annotation)] in
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
            var offset = 0
            var index = bytes.startIndex
            func slice(_ end: Int) -> Substring {
                let next = bytes.index(index, offsetBy: end - offset)
                defer { (offset, index) = (end, next) }
                return run.text[index..<next]
            }
            for (range, annotation) in found {
                result.append(run.with(slice(range.lowerBound)))
                var annotated = run.with(slice(range.upperBound))
                switch annotation {
                case .link(let target):
                    annotated.link = BodyLink(unjudged: target)
                    annotated.mention = target.mention
                case .mention(let mention): annotated.mention = mention
                }
                result.append(annotated)
            }
            result.append(run.with(run.text[index...]))
        }
        return result
    }

    enum Annotation {
        case link(LinkTarget)
        case mention(MentionTarget)
    }
}

extension InlineAnnotator.Triggers {
    fileprivate init(in text: InlineText) {
        let table = Self.ofByte
        var bits: UInt8 = 0
        for run in text.runs {
            var text = run.text
            text.withUTF8 { bytes in
                for byte in bytes { bits |= table[Int(byte)] }
            }
        }
        self.init(rawValue: bits)
    }
}
