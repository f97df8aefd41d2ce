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
        text.judgeLinks()
        return text
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
        case mention(BodyMention)
    }
}
