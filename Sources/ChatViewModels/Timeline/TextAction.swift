public import ChatCore
public import Composer

/// A link, mention or spoiler in a text.
public nonisolated struct TextAction: Equatable, Sendable {
    public nonisolated enum Kind: Equatable, Sendable {
        case link(BodyLink)
        case mention(MentionTarget)
        case spoiler(Spoiler)
    }

    /// In UTF-8 offsets of the text.
    public var range: Range<Int>
    public var kind: Kind

    /// The actions in a text, in order. A link within a spoiler comes after the spoiler.
    public static func all(in text: InlineText) -> [TextAction] {
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

    /// Whether the action has a target: all but spoilers.
    public var isTarget: Bool { if case .spoiler = kind { false } else { true } }

    /// The tooltip.
    public func explanation(_ translator: Translator) -> String {
        switch kind {
        case .link(let link): link.target.address
        case .mention(.member(let id)): id
        case .mention(.room(let id, _)), .mention(.custom(let id)): id
        case .mention(.everyone): translator("Everyone in this room")
        case .spoiler(let spoiler): spoiler.reason.isEmpty ? translator("Spoiler") : spoiler.reason
        }
    }

    /// The accessible label.
    /// - Parameter text: the text that the action is in.
    public func accessibleText(in text: String, _ translator: Translator) -> String {
        let utf8 = text.utf8
        let start = utf8.index(utf8.startIndex, offsetBy: min(range.lowerBound, utf8.count))
        let end = utf8.index(utf8.startIndex, offsetBy: min(range.upperBound, utf8.count))
        return switch kind {
        case .spoiler: translator("Spoiler, press Return to reveal")
        case .link, .mention: String(text[start..<end])
        }
    }

    private nonisolated struct LinkOrMention: Equatable {
        var link: BodyLink?
        var mention: MentionTarget?
    }
}

nonisolated extension InlineText {
    /// The ranges of runs with equal `key`, in UTF-8 offsets.
    public func ranges<Key: Equatable>(of key: (InlineRun) -> Key) -> [(key: Key, range: Range<Int>)] {
        var offset = 0
        return groups(by: key).map { group in
            let start = offset
            offset += group.runs.reduce(0) { $0 + $1.text.utf8.count }
            return (group.key, start..<offset)
        }
    }
}
