/// The parts of a sent message besides its text.
struct SentExtras: Sendable {
    var reply: ReplyTarget?
    var attachments: [Attachment]
}

/// An edit of a sent message that is not saved: the host failed to, or it is half done.
public struct UnsavedEdit: Hashable, Sendable, Codable {
    public var id: String
    public var written: WrittenText
    /// Whether the message may become empty.
    public var mayBeEmpty: Bool
}

/// Messages that await the host's response, and failed ones.
struct ComposerOutbox: Sendable {
    /// The content to restore if sending fails.
    struct Entry: Sendable {
        var id: String
        var document: ComposerDocument
        var selection: TextRange
        var reply: ReplyTarget?
        var attachments: [Attachment]
        /// The revision of the content if it stayed in the composer; `nil` if it was cleared.
        var revision: Int?

        /// The message as it is passed to the host.
        func message(trimmed: Bool) -> ComposedMessage {
            document.message(id: id, trimmed: trimmed, attachments: attachments, reply: reply)
        }

        /// The content in the form of drafts.
        var content: ComposerDraft.Content {
            ComposerDraft.Content(
                written: document.written, selection: selection, reply: reply, attachments: attachments)
        }
    }

    var isConnected = true
    private(set) var pending: [Entry] = []
    /// Oldest first.
    private(set) var failedEntries: [Entry] = []
    /// Edits that the host failed to save, oldest first.
    private(set) var failedEdits: [UnsavedEdit] = []
    private var sent = 0

    mutating func nextID() -> String {
        sent += 1
        return "send-\(sent)"
    }

    mutating func add(_ entry: Entry) { pending.append(entry) }

    /// Whether exactly this content is being sent.
    func holds(revision: Int) -> Bool {
        pending.contains { $0.revision == revision }
    }

    /// The message with this identifier that awaits the host's response, or `nil`.
    func pendingEntry(_ id: String) -> Entry? { pending.first { $0.id == id } }

    /// The messages that failed to be sent, oldest first, in the form of drafts.
    ///
    /// - Parameter stored: counts all other messages that await the host's response as unsent, so that a crash
    ///   between two messages loses neither.
    func unsent(besides stored: String?) -> [ComposerDraft.Content] {
        let failed = failedEntries.map(\.content)
        guard let stored else { return failed }
        return failed + pending.filter { $0.id != stored && $0.revision == nil }.map(\.content)
    }

    mutating func remove(_ id: String) -> Entry? {
        guard let index = pending.firstIndex(where: { $0.id == id }) else { return nil }
        return pending.remove(at: index)
    }

    mutating func addFailedEdit(_ edit: UnsavedEdit) { failedEdits.append(edit) }
    mutating func popFailedEdit() -> UnsavedEdit? { failedEdits.isEmpty ? nil : failedEdits.removeFirst() }
    mutating func forgetEdits(of id: String) { failedEdits.removeAll { $0.id == id } }

    /// The sources and thumbnails of the files that a failure brings back.
    var fileSources: Set<String> { Set((pending + failedEntries).flatMap(\.attachments).flatMap(\.fileSources)) }

    /// Whether nothing waits to be restored.
    var isEmpty: Bool { failedEntries.isEmpty && failedEdits.isEmpty }

    /// Restores the unsent messages and edits of a draft.
    mutating func restore(_ draft: ComposerDraft) {
        failedEdits = draft.unsavedEdits ?? []
        failedEntries = (draft.unsent ?? []).map { content in
            Entry(
                id: nextID(), document: ComposerDocument(content.written), selection: content.selection,
                reply: content.reply, attachments: content.attachments)
        }
    }

    /// Puts the unsent messages and edits of an earlier draft before those that have failed since.
    mutating func putBefore(_ draft: ComposerDraft) {
        let (entries, edits) = (failedEntries, failedEdits)
        restore(draft)
        failedEntries += entries
        failedEdits += edits
    }

    mutating func addFailedEntry(_ entry: Entry) { failedEntries.append(entry) }
    mutating func popFailedEntry() -> Entry? { failedEntries.isEmpty ? nil : failedEntries.removeFirst() }
}
