import ChatCore
import Composer
import MessageMarkup
import Synchronization

/// The bodies of messages: each parsed once, off the main thread, and kept until its text changes.
///
/// Whoever shows messages prepares them first, on any thread; what was not prepared is parsed where it is asked for.
nonisolated final class MessageBodies: Sendable {
    /// All that a body depends on.
    private struct Source: Hashable {
        var text: String
        var html: String?
        var written: WrittenText?
        /// Whether the text is Markdown, with names after an `@`.
        var isMarkdown: Bool
        var isEmote: Bool

        init(_ message: Message, readsPlainTexts: Bool) {
            text = String(MessageItem.displayedText(of: message.text))
            // What is too long to be shown whole is shown as its text.
            let isWhole = text.utf8.count == message.text.utf8.count
            html = message.formattedText.flatMap { isWhole && $0.utf8.count <= 65_536 ? $0 : nil }
            written = message.written.flatMap { isWhole && $0.source.utf8.count <= 65_536 ? $0 : nil }
            isMarkdown = !readsPlainTexts || message.isTypedHere
            isEmote = message.kind == .emote
        }

        func body(_ names: MentionNames) -> MessageBody {
            // What one wrote says more than the HTML that was made of it.
            let formatted =
                written.map { MessageMarkup.body(of: $0, isEmote: isEmote) }
                ?? html.map { MessageMarkup.body(html: $0, isEmote: isEmote) }
            if let formatted, !formatted.blocks.isEmpty, formatted.blockCount <= MessageItem.maxDisplayedBlocks,
                formatted.selectableText(saidBy: "").utf8.count <= 4 * MessageItem.maxDisplayedCharacters
            {
                return formatted
            }
            return isMarkdown
                ? MessageMarkup.body(markdown: text, isEmote: isEmote, names: names)
                : MessageMarkup.body(plain: text, isEmote: isEmote)
        }
    }

    private struct Cache {
        var names = MentionNames()
        /// Those asked for since the others were.
        var recent: [MessageID: (source: Source, body: MessageBody)] = [:]
        var older: [MessageID: (source: Source, body: MessageBody)] = [:]

        mutating func body(_ id: MessageID, _ source: Source) -> MessageBody? {
            if let entry = recent[id], entry.source == source { return entry.body }
            guard let entry = older[id], entry.source == source else { return nil }
            store(id, source, entry.body)
            return entry.body
        }

        mutating func store(_ id: MessageID, _ source: Source, _ body: MessageBody) {
            if recent.count >= MessageBodies.cacheSize { (older, recent) = (recent, [:]) }
            recent[id] = (source, body)
        }

        mutating func forget(_ isStale: (Source) -> Bool) {
            recent = recent.filter { !isStale($0.value.source) }
            older = older.filter { !isStale($0.value.source) }
        }
    }

    /// How many bodies are kept at least, once there were so many; twice as many at most.
    static let cacheSize = 2048

    private let cache = Mutex(Cache())
    let readsPlainTexts: Bool

    /// - Parameter readsPlainTexts: see ``BackendCapabilities/plainTexts``.
    init(readsPlainTexts: Bool = false) { self.readsPlainTexts = readsPlainTexts }

    /// Who is recognised in texts from now on.
    func setMembers(_ members: [Member]) {
        let names = MentionNames(members)
        cache.withLock { cache in
            guard names != cache.names else { return }
            cache.names = names
            cache.forget { $0.text.utf8.contains(UInt8(ascii: "@")) }
        }
    }

    /// Members who are called otherwise, or are new, with what was known of them.
    func changeMembers(_ changes: [(before: Member?, after: Member)]) {
        let changes = changes.filter { $0.before?.displayName != $0.after.displayName }
        guard !changes.isEmpty else { return }
        cache.withLock { cache in
            for (before, after) in changes { cache.names.change(before, to: after) }
            cache.forget { $0.text.utf8.contains(UInt8(ascii: "@")) }
        }
    }

    /// The body of a message, empty for a deleted one.
    func body(of message: Message) -> MessageBody {
        guard !message.isDeleted else { return MessageBody() }
        let source = source(of: message)
        if let body = cache.withLock({ $0.body(message.id, source) }) { return body }
        return parse(message.id, source)
    }

    /// Parses what is not known yet of these messages. Returns at once, on the caller's thread, if that is nothing.
    func prepare(_ messages: [Message]) async {
        let missing = messages.filter { message in
            !message.isDeleted && cache.withLock { $0.body(message.id, source(of: message)) } == nil
        }
        if !missing.isEmpty { await parse(missing) }
    }

    private func source(of message: Message) -> Source { Source(message, readsPlainTexts: readsPlainTexts) }

    @concurrent
    private func parse(_ messages: [Message]) async {
        for message in messages { parse(message.id, source(of: message)) }
    }

    @discardableResult
    private func parse(_ id: MessageID, _ source: Source) -> MessageBody {
        let names = cache.withLock(\.names)
        let body = source.body(names)
        // Names that changed meanwhile make it stale.
        cache.withLock { if $0.names == names { $0.store(id, source, body) } }
        return body
    }
}

nonisolated extension Message {
    /// Whether a text without a form is Markdown, wherever it is: an earlier version of this program sent it from here.
    var isTypedHere: Bool { transactionID != nil }

    /// How ``text`` is to be read where nothing else is at hand.
    ///
    /// - Parameter readsPlainTexts: see ``BackendCapabilities/plainTexts``.
    func textSyntax(readsPlainTexts: Bool) -> WrittenText.Syntax {
        if let written { return written.syntax }
        return readsPlainTexts && formattedText == nil && !isTypedHere ? .plain : .markdown
    }
}
