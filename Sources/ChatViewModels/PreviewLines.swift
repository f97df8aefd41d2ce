import ChatCore

/// The last messages of rooms as a list shows them, each read once.
nonisolated struct PreviewLines: Sendable {
    private struct Line: Sendable {
        var text: String
        var plain: String
    }

    private var lines: [RoomID: Line] = [:]

    subscript(room: RoomID) -> String? { lines[room]?.plain }

    /// The same with what these rooms say now. Returns at once, on the caller's thread, if nothing of it is new.
    func adding(_ summaries: [RoomSummary]) async -> PreviewLines {
        let isKnown = summaries.allSatisfy { $0.lastMessage == nil || lines[$0.id]?.text == $0.lastMessage?.text }
        return isKnown ? self : await reading(summaries)
    }

    @concurrent
    private func reading(_ summaries: [RoomSummary]) async -> PreviewLines {
        var next = PreviewLines()
        for summary in summaries {
            guard let text = summary.lastMessage?.text else { continue }
            if let line = lines[summary.id], line.text == text {
                next.lines[summary.id] = line
            } else {
                // Characters of many scalars are cut sooner.
                let isCut =
                    text.unicodeScalars.count >= 3_000 || text.count >= RoomSummary.LastMessage.mostCharacters
                next.lines[summary.id] = Line(text: text, plain: PlainPreview.line(text, isCut: isCut))
            }
        }
        return next
    }
}
