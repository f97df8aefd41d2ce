/// What was being written, to be put back as it was.
struct ComposerStash: Sendable {
    var document: ComposerDocument
    var selection: TextRange
    var reply: ReplyTarget?
    var attachments: [Attachment]
    var history: UndoHistory
}

/// Messages handed to the host and not answered yet, and those that failed.
struct ComposerOutbox: Sendable {
    /// What goes back into the composer if sending fails.
    struct Entry: Sendable {
        var id: String
        var document: ComposerDocument
        var selection: TextRange
        var reply: ReplyTarget?
        var attachments: [Attachment]
        /// The content's revision if it stayed in the composer; nil if it was cleared.
        var revision: Int?
    }

    private(set) var pending: [Entry] = []
    /// The oldest first.
    private(set) var unsent: [Entry] = []
    private var sent = 0

    mutating func nextID() -> String {
        sent += 1
        return "send-\(sent)"
    }

    mutating func add(_ entry: Entry) { pending.append(entry) }

    /// Whether just this content is on its way.
    func holds(revision: Int) -> Bool {
        pending.contains { $0.revision == revision }
    }

    mutating func take(_ id: String) -> Entry? {
        guard let place = pending.firstIndex(where: { $0.id == id }) else { return nil }
        return pending.remove(at: place)
    }

    mutating func keepUnsent(_ entry: Entry) { unsent.append(entry) }
    mutating func takeUnsent() -> Entry? { unsent.isEmpty ? nil : unsent.removeFirst() }
}
