import ChatCore
import Composer

/// A written text cut where its marks begin and end.
struct WrittenPieces {
    struct Piece {
        var text: Substring
        var look: MarkLook
        /// Which of ``mentions`` it is a part of.
        var mention: Int?
    }

    private(set) var pieces: [Piece] = []
    /// Whom the mentions mean, in their order.
    private(set) var mentions: [MentionTarget] = []

    /// The places of files are no text, and left out.
    init(_ written: WrittenText) {
        guard !written.marks.isEmpty else {
            if !written.source.isEmpty { pieces = [Piece(text: written.source[...], look: MarkLook())] }
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
            pieces.append(
                Piece(
                    text: source[index..<next], look: styles.look(at: start),
                    mention: start < mentionEnd ? mentions.count - 1 : nil))
        }
    }

    /// The text, in which each character stands for itself.
    var inline: InlineText {
        InlineText(pieces.map { run($0, in: InlineRun("")) })
    }

    /// A piece as a run, in a text that looks like `base` otherwise. Whom a mention means wins over any link.
    func run(_ piece: Piece, in base: InlineRun) -> InlineRun {
        var run = piece.look.applied(to: base).with(piece.text)
        if let mention = piece.mention {
            run.mention = mentions[mention]
            run.link = mentions[mention].link.map { BodyLink(unjudged: $0) }
        }
        return run
    }
}
