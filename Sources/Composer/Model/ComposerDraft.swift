public import Foundation

/// The persistent state of a composer: text, marks, selection, mode, reply and attachments (SLK-39).
public struct ComposerDraft: Hashable, Sendable, Codable {
    /// The format version that this code writes. Version 1, whose mentions had no targets, can be read as well.
    public static let currentVersion = 2

    /// A text with its selection, reply and attachments.
    public struct Content: Hashable, Sendable, Codable {
        public var written: WrittenText
        public var selection: TextRange
        public var reply: ReplyTarget?
        public var attachments: [Attachment]
    }

    public var version: Int
    public var mode: ComposerMode
    public var content: Content
    /// The content that was set aside when editing a message began.
    public var stash: Content?
    /// Whether the edited message may become empty.
    public var mayBeEmpty: Bool?
    /// Messages that failed to be sent, the oldest first.
    public var unsent: [Content]?
    /// Edits that failed to be saved, the oldest first.
    public var unsavedEdits: [UnsavedEdit]?
    /// Half-done edits that undo returns to, the oldest first. Earlier drafts have none.
    public var suspendedEdits: [UnsavedEdit]?
    /// The first lines of the edited messages before their edits, by their identifiers. Earlier drafts have none.
    public var originals: [String: WrittenText]?

    /// Whether the draft has no content worth saving.
    public var isEmpty: Bool {
        guard mode == .compose, unsent?.isEmpty ?? true, unsavedEdits?.isEmpty ?? true,
            suspendedEdits?.isEmpty ?? true
        else { return false }
        return content.written.source.isEmpty && content.attachments.isEmpty && content.reply == nil
    }

    /// Returns the draft as JSON.
    public func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    /// Decodes the output of ``encoded()``.
    ///
    /// - Parameter target: resolves a mention of version 1 by its entity identifier and text; `nil` results in
    ///   ``MentionTarget/custom(_:)``.
    /// - Throws: ``DraftError`` for any invalid data.
    public static func decode(
        _ data: Data, target: (_ entityID: String, _ text: String) -> MentionTarget? = { _, _ in nil }
    ) throws(DraftError) -> ComposerDraft {
        struct Header: Decodable { var version: Int }
        let decoder = JSONDecoder()
        // Data without a version isn't a draft, whatever else is wrong with it.
        guard let header = try? decoder.decode(Header.self, from: data) else { throw .unreadable }
        let draft: ComposerDraft
        switch header.version {
        case 1:
            // Only this program wrote version 1, so anything it can't read was truncated.
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

/// A draft of version 1, whose mentions only have an entity identifier.
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

    /// Returns `nil` if ranges or mentions don't match the text.
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

/// The reason why a draft wasn't restored.
public enum DraftError: Error, Hashable, Sendable {
    /// Not a draft, or truncated.
    case unreadable
    /// A format version that this code doesn't read.
    case unknownVersion(Int)
    /// Ranges or mentions don't match the text.
    case damaged
    /// The composer was already in use; its content takes precedence.
    case inUse
}

extension ComposerDraft.Content {
    /// The document, or `nil` if the selection or the marks don't match the text.
    var document: ComposerDocument? {
        let document = ComposerDocument(written)
        // A length mismatch means that the document dropped NUL, so the offsets don't apply.
        return document.length == written.source.utf16.count && document.contains(selection) ? document : nil
    }
}

extension ComposerDraft {
    /// - Parameter stored: see ``ComposerOutbox/unsent(besides:)``.
    init(of message: MessageWriter, _ outbox: ComposerOutbox, storing stored: String?) {
        let unsent = outbox.unsent(besides: stored)
        let suspended = message.suspendedEdits
        var edited = Set((outbox.failedEdits + suspended).map(\.id))
        if case .edit(let id) = message.writing.mode { edited.insert(id) }
        let originals = message.originals.filter { edited.contains($0.key) }
        self.init(
            version: Self.currentVersion, mode: message.writing.mode,
            content: Content(
                written: message.editor.text.document.written, selection: message.editor.selection,
                reply: message.writing.reply, attachments: message.attachments.items),
            stash: message.writing.stash.map {
                Content(
                    written: $0.text.document.written, selection: $0.text.selection, reply: $0.reply,
                    attachments: message.attachments.stashed ?? [])
            },
            mayBeEmpty: message.writing.mayBeEmpty ? true : nil, unsent: unsent.isEmpty ? nil : unsent,
            unsavedEdits: outbox.failedEdits.isEmpty ? nil : outbox.failedEdits,
            suspendedEdits: suspended.isEmpty ? nil : suspended, originals: originals.isEmpty ? nil : originals)
    }
}
