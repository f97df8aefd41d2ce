public import Foundation

/// What is being written, to be stored and brought back: text, spans, caret, mode, reply, attachments (SLK-39).
public struct ComposerDraft: Hashable, Sendable, Codable {
    /// The version that this code writes and the only one that it reads.
    public static let currentVersion = 1

    /// One document with what belongs to it.
    public struct Content: Hashable, Sendable, Codable {
        public var text: String
        public var spans: [Span]
        public var selection: TextRange
        public var reply: ReplyTarget?
        public var attachments: [Attachment]
    }

    public var version: Int
    public var mode: ComposerMode
    public var content: Content
    /// What was being written before a message began to be edited.
    public var stash: Content?

    /// Whether there is nothing worth keeping.
    public var isEmpty: Bool {
        guard mode == .compose else { return false }
        return content.text.isEmpty && content.attachments.isEmpty && content.reply == nil
    }

    /// JSON, for a file.
    public func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    /// Reads what ``encoded()`` wrote.
    ///
    /// - Throws: ``DraftError``, whatever the data is.
    public static func decode(_ data: Data) throws(DraftError) -> ComposerDraft {
        struct Header: Decodable { var version: Int }
        let decoder = JSONDecoder()
        guard let header = try? decoder.decode(Header.self, from: data) else { throw .unreadable }
        guard header.version == currentVersion else { throw .unknownVersion(header.version) }
        guard let draft = try? decoder.decode(ComposerDraft.self, from: data) else { throw .unreadable }
        guard draft.content.document != nil, draft.stash.map({ $0.document != nil }) ?? true else { throw .damaged }
        return draft
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
        guard let document = ComposerDocument(text, spans: spans), document.contains(selection) else { return nil }
        return document
    }
}

extension ComposerEngine {
    /// The draft as it is now, without what an input method only shows.
    public func makeDraft() -> ComposerDraft {
        let content = ComposerDraft.Content(
            text: document.text, spans: document.spans, selection: selection, reply: reply, attachments: attachments)
        let stashed = stash.map {
            ComposerDraft.Content(
                text: $0.document.text, spans: $0.document.spans, selection: $0.selection, reply: $0.reply,
                attachments: $0.attachments)
        }
        return ComposerDraft(version: ComposerDraft.currentVersion, mode: mode, content: content, stash: stashed)
    }

    /// Brings a draft back into a composer that nobody has written in, with nothing to undo. What is there
    /// already wins: then nothing happens but a refusal (SLK-39).
    public mutating func restore(_ draft: ComposerDraft) -> [ComposerEffect] {
        takeTurn { engine in
            guard engine.isUnused else { return engine.refuse(.draft(.inUse)) }
            guard let document = draft.content.document else { return engine.refuse(.draft(.damaged)) }
            engine.swapDocument(document, selection: draft.content.selection)
            engine.reply = draft.content.reply
            engine.attachments = draft.content.attachments
            engine.mode = draft.mode
            if engine.isEditing {
                engine.stash = ComposerStash(
                    document: draft.stash?.document ?? ComposerDocument(),
                    selection: draft.stash?.selection ?? .caret(0),
                    reply: draft.stash?.reply, attachments: draft.stash?.attachments ?? [],
                    history: UndoHistory(depth: engine.configuration.undoDepth))
            }
            engine.observe(.loaded)
            engine.turn.contentChanged = false
        }
    }

    /// Reads a stored draft and brings it back; data that can't be read leaves the composer empty and is reported.
    public mutating func restore(encoded data: Data) -> [ComposerEffect] {
        do throws(DraftError) {
            return restore(try ComposerDraft.decode(data))
        } catch {
            return takeTurn { engine in engine.refuse(.draft(error)) }
        }
    }

    private var isUnused: Bool {
        document.isEmpty && !isEditing && reply == nil && attachments.isEmpty && !history.canUndo && !history.canRedo
    }
}
