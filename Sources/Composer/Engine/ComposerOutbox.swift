/// What was being written, to be put back as it was.
struct ComposerStash: Sendable {
    var document: ComposerDocument
    var selection: TextRange
    var reply: ReplyTarget?
    var attachments: [Attachment]
    var history: UndoHistory
}

/// What undo can go back to: a stored message that was being edited, or the new one.
enum ComposerContext: Sendable {
    /// What is in the stash.
    case compose
    case edit(SuspendedEdit)
}

/// An edit that was left before it was done.
struct SuspendedEdit: Sendable {
    var id: String
    var document: ComposerDocument
    var selection: TextRange
    var history: UndoHistory
    var mayBeEmpty: Bool
    /// It came with a draft: that nothing can be undone does not say that nothing is different.
    var isRestored = false
}

/// What went with a message beside its text.
struct SentExtras: Sendable {
    var reply: ReplyTarget?
    var attachments: [Attachment]
}

/// What the user made of a stored message and the host could not store.
public struct UnsavedEdit: Hashable, Sendable, Codable {
    public var id: String
    public var written: WrittenText
    /// Whether the message may lose its text.
    public var mayBeEmpty: Bool
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

        /// As drafts have it.
        var content: ComposerDraft.Content {
            ComposerDraft.Content(
                written: document.written, selection: selection, reply: reply, attachments: attachments)
        }
    }

    private(set) var pending: [Entry] = []
    /// The oldest first.
    private(set) var failedEntries: [Entry] = []
    /// Edits that the host could not store, the oldest first.
    private(set) var failedEdits: [UnsavedEdit] = []
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

    mutating func remove(_ id: String) -> Entry? {
        guard let index = pending.firstIndex(where: { $0.id == id }) else { return nil }
        return pending.remove(at: index)
    }

    mutating func addFailedEdit(_ edit: UnsavedEdit) { failedEdits.append(edit) }
    mutating func popFailedEdit() -> UnsavedEdit? { failedEdits.isEmpty ? nil : failedEdits.removeFirst() }
    mutating func forgetEdits(of id: String) { failedEdits.removeAll { $0.id == id } }

    /// Whether nothing waits to come back.
    var isEmpty: Bool { failedEntries.isEmpty && failedEdits.isEmpty }

    /// Takes over what a draft says is unsent.
    mutating func restore(_ draft: ComposerDraft) {
        failedEdits = draft.unsavedEdits ?? []
        failedEntries = (draft.unsent ?? []).map { content in
            Entry(
                id: nextID(), document: ComposerDocument(content.written), selection: content.selection,
                reply: content.reply, attachments: content.attachments)
        }
    }

    mutating func addFailedEntry(_ entry: Entry) { failedEntries.append(entry) }
    mutating func popFailedEntry() -> Entry? { failedEntries.isEmpty ? nil : failedEntries.removeFirst() }
}
