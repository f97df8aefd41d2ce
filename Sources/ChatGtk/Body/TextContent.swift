import ChatCore
import Composer

/// What a ``BodyText`` shows and how.
struct TextContent: Equatable {
    /// Space around runs of code and pills would break lines; what is drawn behind them is wider by this, in pixels.
    static let chipInset = 2.0

    var text: InlineText
    /// The size of the letters, 1 for that of the widget's style.
    var scale = 1.0
    var isBold = false
    /// Whether letters are of one width, and lines as long as they are.
    var isCode = false
    /// Characters after which lines are broken at the latest.
    var lineLength = 62
    /// Whether the text is never narrower than it would like. What is scrolled sideways must be: GTK measures its
    /// height at the least width.
    var isRigid = false
    /// Colours of code, in UTF-8 units of the text.
    var highlights: [CodeHighlight] = []

    init(_ text: InlineText, scale: Double = 1, isBold: Bool = false, isCode: Bool = false) {
        self.text = text
        self.scale = scale
        self.isBold = isBold
        self.isCode = isCode
    }
}

/// A stretch of code in one look.
struct CodeHighlight: Equatable {
    var range: Range<Int>
    var color: BodyColor?
    var isBold = false
    var isItalic = false
}

/// A part of a text that does something.
struct TextAction: Equatable {
    enum Kind: Equatable {
        case link(BodyLink)
        case mention(MentionTarget)
        case spoiler(Spoiler)
    }

    /// In UTF-8 units of the text.
    var range: Range<Int>
    var kind: Kind

    /// The actions in a text, in order. A link in a spoiler comes after it.
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
    /// Stretches for which `key` is equal, in UTF-8 units.
    func ranges<Key: Equatable>(of key: (InlineRun) -> Key) -> [(key: Key, range: Range<Int>)] {
        var offset = 0
        return groups(by: key).map { group in
            let start = offset
            offset += group.runs.reduce(0) { $0 + $1.text.utf8.count }
            return (group.key, start..<offset)
        }
    }
}
