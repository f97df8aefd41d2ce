import ChatCore
public import Foundation

/// A revision of a message as a diff against the one before it.
public nonisolated struct MessageVersion: Equatable, Sendable {
    /// A run of text that is unchanged, added or removed.
    public nonisolated struct Segment: Equatable, Sendable {
        public nonisolated enum Change: Sendable {
            case unchanged, added, removed
        }

        public var text: String
        public var change: Change

        public init(_ text: String, _ change: Change) {
            self.text = text
            self.change = change
        }
    }

    public var writtenAt: Date
    /// In reading order; removed text precedes its replacement.
    public var segments: [Segment]

    public init(writtenAt: Date, segments: [Segment]) {
        self.writtenAt = writtenAt
        self.segments = segments
    }

    /// Above this many words on either side, the whole text counts as removed and added: diffing takes quadratic time.
    static let comparedWords = 4_000

    /// - Parameter revisions: oldest first.
    /// - Returns: newest first. The oldest one has no changes.
    @concurrent
    static func versions(_ revisions: [MessageRevision]) async -> [MessageVersion] {
        var versions: [MessageVersion] = []
        var last: MessageRevision?
        for revision in revisions {
            let segments =
                last.map { difference(from: $0.text, to: revision.text) } ?? [Segment(revision.text, .unchanged)]
            versions.append(MessageVersion(writtenAt: revision.writtenAt, segments: segments))
            last = revision
        }
        return versions.reversed()
    }

    /// Diffs whole words, which reads better than a diff of characters.
    static func difference(from old: String, to new: String) -> [Segment] {
        let (before, after) = (words(old), words(new))
        guard max(before.count, after.count) <= comparedWords else {
            return [Segment(old, .removed), Segment(new, .added)]
        }
        var (removed, added): (Set<Int>, Set<Int>) = ([], [])
        for change in after.difference(from: before) {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): added.insert(offset)
            }
        }
        var segments: [Segment] = []
        func add(_ word: Substring, _ change: Segment.Change) {
            if segments.last?.change == change {
                segments[segments.count - 1].text += word
            } else {
                segments.append(Segment(String(word), change))
            }
        }
        var (from, to) = (0, 0)
        while from < before.count || to < after.count {
            if from < before.count, removed.contains(from) {
                add(before[from], .removed)
                from += 1
            } else if to < after.count, added.contains(to) {
                add(after[to], .added)
                to += 1
            } else {
                add(after[to], .unchanged)
                (from, to) = (from + 1, to + 1)
            }
        }
        return segments
    }

    /// Splits a text into words and single other characters, which together make up the text.
    private static func words(_ text: String) -> [Substring] {
        var words: [Substring] = []
        var start = text.startIndex
        while start < text.endIndex {
            var end = text.index(after: start)
            if isWord(text[start]) {
                while end < text.endIndex, isWord(text[end]) { end = text.index(after: end) }
            }
            words.append(text[start..<end])
            start = end
        }
        return words
    }

    private static func isWord(_ character: Character) -> Bool { character.isLetter || character.isNumber }
}
