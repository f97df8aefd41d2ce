import ChatCore
import Composer

/// What a ``BodyText`` shows, and how.
struct TextContent: Equatable {
    /// How far the backgrounds of code and pills extend beyond their text on either side, in pixels. Actual spaces
    /// would be line break opportunities.
    static let chipInset = 2.0

    var text: InlineText
    /// The font scale, relative to the widget's style.
    var scale = 1.0
    var isBold = false
    /// Whether the text is monospace and not wrapped.
    var isCode = false
    /// The maximum line length, in characters.
    var lineLength = 62
    /// Whether the minimum width is the natural width. Necessary in horizontally scrolled content, whose height GTK
    /// measures for the minimum width.
    var isRigid = false
    /// Syntax highlighting, in UTF-8 offsets of the text.
    var highlights: [CodeHighlight] = []

    init(_ text: InlineText, scale: Double = 1, isBold: Bool = false, isCode: Bool = false) {
        self.text = text
        self.scale = scale
        self.isBold = isBold
        self.isCode = isCode
    }
}

/// A range of code with uniform highlighting.
struct CodeHighlight: Equatable {
    var range: Range<Int>
    var color: BodyColor?
    var isBold = false
    var isItalic = false
}

/// A link, mention or spoiler in a text.
struct TextAction: Equatable {
    enum Kind: Equatable {
        case link(BodyLink)
        case mention(MentionTarget)
        case spoiler(Spoiler)
    }

    /// In UTF-8 offsets of the text.
    var range: Range<Int>
    var kind: Kind

    /// The actions in a text, in order. A link within a spoiler comes after the spoiler.
    static func all(in text: InlineText) -> [TextAction] {
        guard text.runs.contains(where: { $0.link != nil || $0.mention != nil || $0.spoiler != nil }) else { return [] }
        var actions: [TextAction] = []
        for (spoiler, range) in text.ranges(of: \.spoiler) {
            if let spoiler { actions.append(TextAction(range: range, kind: .spoiler(spoiler))) }
        }
        for (target, range) in text.ranges(of: { LinkOrMention(link: $0.link, mention: $0.mention) }) {
            if let mention = target.mention {
                actions.append(TextAction(range: range, kind: .mention(mention)))
            } else if let link = target.link {
                actions.append(TextAction(range: range, kind: .link(link)))
            }
        }
        return actions.sorted { $0.range.lowerBound < $1.range.lowerBound }
    }

    private struct LinkOrMention: Equatable {
        var link: BodyLink?
        var mention: MentionTarget?
    }
}

extension InlineText {
    /// The ranges of runs with equal `key`, in UTF-8 offsets.
    func ranges<Key: Equatable>(of key: (InlineRun) -> Key) -> [(key: Key, range: Range<Int>)] {
        var offset = 0
        return groups(by: key).map { group in
            let start = offset
            offset += group.runs.reduce(0) { $0 + $1.text.utf8.count }
            return (group.key, start..<offset)
        }
    }
}
