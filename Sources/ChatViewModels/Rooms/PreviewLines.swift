import ChatCore
import Composer

/// The plain text of each room's last message for the room list, parsed once.
nonisolated struct PreviewLines: Sendable {
    private struct Line: Sendable {
        var text: String
        var syntax: WrittenText.Syntax?
        var plain: String

        func matches(_ message: RoomSummary.LastMessage) -> Bool {
            text == message.text && syntax == message.syntax
        }
    }

    private var lines: [RoomID: Line] = [:]
    /// The rooms that the lines are of.
    private var summaries: [RoomSummary] = []
    private let readsPlainTexts: Bool

    /// - Parameter readsPlainTexts: see ``BackendCapabilities/plainTexts``.
    init(readsPlainTexts: Bool) { self.readsPlainTexts = readsPlainTexts }

    subscript(room: RoomID) -> String? { lines[room]?.plain }

    /// Returns a copy updated to these rooms. Stays on the caller's thread if nothing has changed.
    func adding(_ summaries: [RoomSummary]) async -> PreviewLines {
        let isInPlace = self.summaries.count == summaries.count
        let isCached = summaries.indices.allSatisfy { index in
            if isInPlace, self.summaries[index] == summaries[index] { return true }
            guard let message = summaries[index].lastMessage else { return true }
            return lines[summaries[index].id]?.matches(message) ?? false
        }
        guard isCached else { return await reading(summaries) }
        var next = self
        next.summaries = summaries
        return next
    }

    @concurrent
    private func reading(_ summaries: [RoomSummary]) async -> PreviewLines {
        var next = PreviewLines(readsPlainTexts: readsPlainTexts)
        next.summaries = summaries
        for summary in summaries {
            guard let message = summary.lastMessage else { continue }
            let text = message.text
            if let line = lines[summary.id], line.matches(message) {
                next.lines[summary.id] = line
            } else {
                // The backend truncates by scalars as well as by characters.
                let isCut =
                    text.unicodeScalars.count >= 3_000 || text.count >= RoomSummary.LastMessage.maxCharacters
                let syntax = message.syntax ?? (readsPlainTexts ? .plain : .markdown)
                next.lines[summary.id] = Line(
                    text: text, syntax: message.syntax, plain: PlainPreview.line(text, syntax, isCut: isCut))
            }
        }
        return next
    }
}
