public import Foundation

/// What is being written, to be stored and brought back: text, marks, caret, mode, reply, attachments (SLK-39).
public struct ComposerDraft: Hashable, Sendable, Codable {
    /// The version that this code writes. Drafts of version 1, in which mentions had no targets, are read as well.
    public static let currentVersion = 2

    /// One document with what belongs to it.
    public struct Content: Hashable, Sendable, Codable {
        public var written: WrittenText
        public var selection: TextRange
        public var reply: ReplyTarget?
        public var attachments: [Attachment]
    }

    public var version: Int
    public var mode: ComposerMode
    public var content: Content
    /// What was being written before a message began to be edited.
    public var stash: Content?
    /// Whether the message that is being edited may lose its text.
    public var mayBeEmpty: Bool?
    /// Messages that could not be sent and wait behind what is being written, the oldest first.
    public var unsent: [Content]?
    /// Edits that could not be stored and wait, the oldest first.
    public var unsavedEdits: [UnsavedEdit]?

    /// Whether there is nothing worth keeping.
    public var isEmpty: Bool {
        guard mode == .compose, unsent?.isEmpty ?? true, unsavedEdits?.isEmpty ?? true else { return false }
        return content.written.source.isEmpty && content.attachments.isEmpty && content.reply == nil
    }

    /// JSON, for a file.
    public func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    /// Reads what ``encoded()`` wrote.
    ///
    /// - Parameter target: what a mention of version 1 means, by the entity's identifier and the mention's text; nil leaves
    ///   it to the host (``MentionTarget/custom(_:)``).
    /// - Throws: ``DraftError``, whatever the data is.
    public static func decode(
        _ data: Data, target: (_ entityID: String, _ text: String) -> MentionTarget? = { _, _ in nil }
    ) throws(DraftError) -> ComposerDraft {
        struct Header: Decodable { var version: Int }
        let decoder = JSONDecoder()
        guard let header = try? decoder.decode(Header.self, from: data) else { throw .unreadable }
        let draft: ComposerDraft
        switch header.version {
        case 1:
            guard let first = try? decoder.decode(FirstDraft.self, from: data) else { throw .unreadable }
            guard let read = first.draft(target) else { throw .damaged }
            draft = read
        case currentVersion:
            do {
                draft = try decoder.decode(ComposerDraft.self, from: data)
            } catch DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty {
                throw .damaged
            } catch {
                throw .unreadable
            }
        default: throw .unknownVersion(header.version)
        }
        let contents = [draft.content] + [draft.stash].compactMap { $0 } + (draft.unsent ?? [])
        guard contents.allSatisfy({ $0.document != nil }) else { throw .damaged }
        return draft
    }
}

/// A draft of version 1: spans over a text, whose mentions name entities by identifiers alone.
private struct FirstDraft: Decodable {
    struct Mention: Decodable {
        var entityID: String
        var text: String
        var short: String?
    }

    enum SpanContent: Decodable {
        case mention(Mention)
        case style(TextStyle)
        case picture(String)
    }

    struct Span: Decodable {
        var range: TextRange
        var content: SpanContent
    }

    struct Content: Decodable {
        var text: String
        var spans: [Span]
        var selection: TextRange
        var reply: ReplyTarget?
        var attachments: [Attachment]
    }

    var mode: ComposerMode
    var content: Content
    var stash: Content?

    /// Nil where offsets or mentions don't fit the text.
    func draft(_ target: (String, String) -> MentionTarget?) -> ComposerDraft? {
        guard let content = content.content(target) else { return nil }
        let stash = stash.map { $0.content(target) }
        if case .some(.none) = stash { return nil }
        return ComposerDraft(
            version: ComposerDraft.currentVersion, mode: mode, content: content, stash: stash ?? nil)
    }
}

extension FirstDraft.Content {
    fileprivate func content(_ target: (String, String) -> MentionTarget?) -> ComposerDraft.Content? {
        let document = ComposerDocument(text)
        var marks: [WrittenText.Mark] = []
        for span in spans {
            switch span.content {
            case .style(let style): marks.append(.init(.style(style), over: span.range))
            case .picture(let source): marks.append(.init(.file(source), over: span.range))
            case .mention(let mention):
                guard document.contains(span.range), document.text(in: span.range) == mention.text else { return nil }
                let target = target(mention.entityID, mention.text) ?? .custom(mention.entityID)
                marks.append(.init(.mention(target), over: span.range, short: mention.short))
            }
        }
        guard let written = WrittenText(text, marks: marks) else { return nil }
        return .init(written: written, selection: selection, reply: reply, attachments: attachments)
    }
}

/// Why a draft was not restored.
public enum DraftError: Error, Hashable, Sendable {
    /// Not a draft at all, or cut off.
    case unreadable
    /// Written by another version of the program.
    case unknownVersion(Int)
    /// Offsets or mentions don't fit the text.
    case damaged
    /// The composer was in use already: what is there wins.
    case inUse
}

extension ComposerDraft.Content {
    /// The document, if offsets and mentions fit the text.
    var document: ComposerDocument? {
        let document = ComposerDocument(written)
        // One that holds NUL or other line ends is not what was stored.
        return document.length == written.source.utf16.count && document.contains(selection) ? document : nil
    }
}

extension ComposerEngine {
    /// The draft as it is now, without what an input method only shows.
    public func makeDraft() -> ComposerDraft {
        let content = ComposerDraft.Content(
            written: document.written, selection: selection, reply: reply, attachments: attachments)
        let stashed = stash.map {
            ComposerDraft.Content(
                written: $0.document.written, selection: $0.selection, reply: $0.reply, attachments: $0.attachments)
        }
        let unsent = outbox.failedEntries.map(\.content)
        return ComposerDraft(
            version: ComposerDraft.currentVersion, mode: mode, content: content, stash: stashed,
            mayBeEmpty: mayBeEmpty ? true : nil, unsent: unsent.isEmpty ? nil : unsent,
            unsavedEdits: outbox.failedEdits.isEmpty ? nil : outbox.failedEdits)
    }

    /// The draft as it will be once the message with this identifier is stored. What else was handed over is unsent until
    /// the host answers: should the program end between two messages, neither is lost.
    public func makeDraft(storing id: String) -> ComposerDraft {
        var draft = makeDraft()
        let waiting = outbox.pending.filter { $0.id != id && $0.revision == nil }
        if !waiting.isEmpty { draft.unsent = (draft.unsent ?? []) + waiting.map(\.content) }
        return draft
    }

    /// Brings a draft back into a composer that nobody has written in, with nothing to undo. What is there
    /// already wins: then nothing happens but a refusal (SLK-39).
    public mutating func restore(_ draft: ComposerDraft) -> [ComposerEffect] {
        performTransaction { engine in
            guard engine.isUnused else { return engine.reject(.draft(.inUse)) }
            guard let document = draft.content.document else { return engine.reject(.draft(.damaged)) }
            engine.swapDocument(document, selection: draft.content.selection)
            engine.reply = draft.content.reply
            engine.attachments = draft.content.attachments
            engine.mode = draft.mode
            engine.mayBeEmpty = draft.mayBeEmpty ?? false
            engine.isRestoredEdit = engine.isEditing
            engine.outbox.restore(draft)
            if engine.isEditing {
                engine.stash = ComposerStash(
                    document: draft.stash?.document ?? ComposerDocument(),
                    selection: draft.stash?.selection ?? .caret(0),
                    reply: draft.stash?.reply, attachments: draft.stash?.attachments ?? [],
                    history: UndoHistory(depth: engine.configuration.undoDepth))
            }
            engine.observe(.loaded)
            engine.transaction.contentChanged = false
            engine.restoreFailedMessage()
        }
    }

    /// Reads a stored draft and brings it back; data that can't be read leaves the composer empty and is reported.
    ///
    /// - Parameter target: see ``ComposerDraft/decode(_:target:)``.
    public mutating func restore(
        encoded data: Data, target: (_ entityID: String, _ text: String) -> MentionTarget? = { _, _ in nil }
    ) -> [ComposerEffect] {
        do throws(DraftError) {
            return restore(try ComposerDraft.decode(data, target: target))
        } catch {
            return performTransaction { engine in engine.reject(.draft(error)) }
        }
    }

    private var isUnused: Bool {
        document.isEmpty && !isEditing && reply == nil && attachments.isEmpty && !history.canUndo && !history.canRedo
            && outbox.isEmpty
    }
}
