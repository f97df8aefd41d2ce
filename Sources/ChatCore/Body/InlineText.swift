/// The text of a paragraph, as a sequence of runs.
public struct InlineText: Hashable, Sendable {
    /// The runs: none is empty, and adjacent ones differ in formatting.
    public private(set) var runs: [InlineRun]

    public init(_ runs: [InlineRun] = []) {
        self.runs = []
        for run in runs { append(run) }
    }

    public init(_ text: String) {
        self.init([InlineRun(text)])
    }

    public var isEmpty: Bool { runs.isEmpty }

    /// The text of all runs.
    public var text: String { runs.count == 1 ? runs[0].text : runs.reduce(into: "") { $0 += $1.text } }

    /// Appends a run, merging it with the last one if the formatting matches.
    public mutating func append(_ run: InlineRun) {
        guard !run.text.isEmpty else { return }
        if !runs.isEmpty, runs[runs.count - 1].matchesFormatting(run) {
            runs[runs.count - 1].text += run.text
        } else {
            runs.append(run)
        }
    }

    /// Removes a trailing space, as before a line break.
    public mutating func removeTrailingSpace() {
        guard let last = runs.last, last.image == nil, last.text.utf8.last == 0x20 else { return }
        if last.text.utf8.count == 1 {
            runs.removeLast()
        } else {
            runs[runs.count - 1].text.unicodeScalars.removeLast()
        }
    }

    public mutating func append(_ text: InlineText) { text.runs.forEach { append($0) } }

    /// Groups adjacent runs with equal keys, such as the parts of a link or spoiler.
    public func groups<Key: Equatable>(by key: (InlineRun) -> Key) -> [(key: Key, runs: ArraySlice<InlineRun>)] {
        var groups: [(key: Key, runs: ArraySlice<InlineRun>)] = []
        for index in runs.indices {
            let groupKey = key(runs[index])
            if let last = groups.last, last.key == groupKey {
                groups[groups.count - 1].runs = runs[last.runs.startIndex...index]
            } else {
                groups.append((groupKey, runs[index...index]))
            }
        }
        return groups
    }

    /// Sets the warnings of all links, based on their complete text and on the surrounding text; see
    /// ``BodyLink/warnings``.
    public mutating func judgeLinks() {
        guard runs.contains(where: { $0.link != nil }) else { return }
        let isTurned = runs.contains { HiddenCharacters.hasBidiControls(in: $0.text) }
        var start = 0
        while start < runs.count {
            guard let target = runs[start].link?.target else {
                start += 1
                continue
            }
            var end = start + 1
            var linkText = runs[start].text
            while end < runs.count, runs[end].link?.target == target {
                linkText += runs[end].text
                end += 1
            }
            let link = BodyLink(to: target, shownAs: linkText, isTurned: isTurned)
            for index in start..<end { runs[index].link = link }
            start = end
        }
    }
}
