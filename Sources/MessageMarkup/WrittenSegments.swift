import ChatCore
import Composer

/// A written text cut where its marks begin and end.
struct WrittenSegments {
    struct Segment {
        var text: Substring
        var attributes: InlineAttributes
        /// Which of ``mentions`` it is a part of.
        var mention: Int?
    }

    private(set) var segments: [Segment] = []
    /// Whom the mentions mean, in their order.
    private(set) var mentions: [MentionTarget] = []

    /// The places of files are no text, and left out.
    init(_ written: WrittenText) {
        guard !written.marks.isEmpty else {
            if !written.source.isEmpty {
                segments = [Segment(text: written.source[...], attributes: InlineAttributes())]
            }
            return
        }
        let source = written.source
        let length = source.utf16.count
        let cuts = Set(written.marks.flatMap { [$0.range.location, $0.range.end] } + [0, length]).sorted()
        var styles = OpenStyles()
        var marks = written.marks[...]
        var mentionEnd = 0
        var fileEnd = 0
        var index = source.startIndex
        for (start, end) in zip(cuts, cuts.dropFirst()) {
            while let mark = marks.first, mark.range.location <= start {
                marks.removeFirst()
                switch mark.content {
                case .mention(let target):
                    mentions.append(target)
                    mentionEnd = mark.range.end
                case .style(let style): styles.open(style, until: mark.range.end)
                case .file: fileEnd = mark.range.end
                }
            }
            let next = source.utf16.index(index, offsetBy: end - start)
            defer { index = next }
            guard start >= fileEnd else { continue }
            segments.append(
                Segment(
                    text: source[index..<next], attributes: styles.attributes(at: start),
                    mention: start < mentionEnd ? mentions.count - 1 : nil))
        }
    }

    /// The text, in which each character stands for itself.
    var inline: InlineText {
        InlineText(segments.map { run($0, in: InlineRun("")) })
    }

    /// A piece as a run, in a text that looks like `base` otherwise. Whom a mention means wins over any link.
    func run(_ segment: Segment, in base: InlineRun) -> InlineRun {
        var run = segment.attributes.applied(to: base).with(segment.text)
        if let mention = segment.mention {
            run.mention = mentions[mention]
            run.link = mentions[mention].link.map { BodyLink(unjudged: $0) }
        }
        return run
    }
}
