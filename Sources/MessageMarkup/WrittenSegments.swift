import ChatCore
import Composer

/// A written text split at the boundaries of its marks.
struct WrittenSegments {
    struct Segment {
        var text: Substring
        var attributes: InlineAttributes
        /// The index in ``mentions`` of the mention it belongs to.
        var mention: Int?
    }

    private(set) var segments: [Segment] = []
    /// The targets of the mentions, in order.
    private(set) var mentions: [MentionTarget] = []

    /// Splits a text, skipping file marks, which are not text.
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

    /// The text without Markdown parsing, with its marks applied.
    var inline: InlineText {
        InlineText(segments.map { run($0, in: InlineRun("")) })
    }

    /// Returns a segment as a run with the formatting of `base`. A mention takes precedence over a link.
    func run(_ segment: Segment, in base: InlineRun) -> InlineRun {
        var run = segment.attributes.applied(to: base).with(segment.text)
        if let mention = segment.mention {
            run.mention = mentions[mention]
            run.link = mentions[mention].link.map { BodyLink(unjudged: $0) }
        }
        return run
    }
}
