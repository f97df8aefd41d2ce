import ChatCore

/// What is found in a text after its markup was parsed: spoilers, addresses, names; and what links must warn of.
struct InlineMarks: Sendable {
    /// Whether `||text||` is a spoiler.
    var readsSpoilers = false
    var names = MentionNames()

    func applied(to text: InlineText) -> InlineText {
        guard !text.isEmpty else { return text }
        var text = text
        if readsSpoilers { text = SpoilerMarks.applied(to: text) }
        if !names.isEmpty { text = split(text, at: names.mentions(in:)) }
        text = split(text, at: AddressFinder.links(in:))
        return text.withLinkWarnings
    }

    /// Runs that are neither code nor a link already are cut where something was found in them.
    private func split(_ text: InlineText, at find: (String) -> [(range: Range<Int>, mark: Mark)]) -> InlineText {
        var result = InlineText()
        for run in text.runs {
            guard run.link == nil, run.mention == nil, run.image == nil, !run.style.contains(.code) else {
                result.append(run)
                continue
            }
            let found = find(run.text)
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
                    marked.link = BodyLink(to: target, shownAs: marked.text)
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
        case mention(BodyMention)
    }
}

extension InlineText {
    /// Each link judged by all the text that is shown for it.
    fileprivate var withLinkWarnings: InlineText {
        guard runs.contains(where: { $0.link != nil }) else { return self }
        var result = InlineText()
        for (target, runs) in groups(by: \.link?.target) {
            let link = target.map { BodyLink(to: $0, shownAs: runs.map(\.text).joined()) }
            for run in runs {
                var run = run
                run.link = link
                result.append(run)
            }
        }
        return result
    }
}
