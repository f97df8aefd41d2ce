import ChatCore
import Composer
import MessageMarkup
import Synchronization

/// A cache of message bodies. They are parsed off the main thread, and again only when their text changes.
///
/// Call ``prepare(_:)`` before displaying messages; bodies that are not prepared are parsed on the calling thread.
nonisolated final class MessageBodies: Sendable {
    /// Everything a body depends on, apart from the members' names.
    private struct Source: Hashable {
        var text: String
        var html: String?
        var written: WrittenText?
        /// Whether the text is Markdown, in which `@` and a name is a mention.
        var isMarkdown: Bool
        var isEmote: Bool

        init(_ message: Message, readsPlainTexts: Bool) {
            text = String(MessageItem.displayedText(of: message.text))
            // A truncated message is displayed as plain text.
            let isWhole = text.utf8.count == message.text.utf8.count
            html = message.formattedText.flatMap { isWhole && $0.utf8.count <= 65_536 ? $0 : nil }
            written = message.written.flatMap { isWhole && $0.source.utf8.count <= 65_536 ? $0 : nil }
            isMarkdown = message.isMarkdown(readsPlainTexts: readsPlainTexts)
            isEmote = message.kind == .emote
        }

        /// Whether the body may depend on the members' names.
        var mayDependOnNames: Bool { isMarkdown && text.utf8.contains(UInt8(ascii: "@")) }

        func body(_ names: MentionNames) -> MessageBody {
            // Prefer the source: the HTML was generated from it and may have lost information.
            let formatted =
                written.map { MessageMarkup.body(of: $0, isEmote: isEmote) }
                ?? html.map { MessageMarkup.body(html: $0, isEmote: isEmote) }
            if let formatted, !formatted.blocks.isEmpty, formatted.blockCount <= MessageItem.maxDisplayedBlocks,
                formatted.selectableText(by: "").utf8.count <= 4 * MessageItem.maxDisplayedCharacters
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
        /// Entries used since the last rotation; see ``MessageBodies/cacheSize``.
        var recent: [MessageID: (source: Source, body: MessageBody)] = [:]
        var older: [MessageID: (source: Source, body: MessageBody)] = [:]
        var parsedCount = 0

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

        /// Drops the bodies that may depend on the members' names, and copies no dictionary if there are none.
        mutating func forgetNames() {
            for (id, entry) in recent where entry.source.mayDependOnNames { recent[id] = nil }
            for (id, entry) in older where entry.source.mayDependOnNames { older[id] = nil }
        }
    }

    /// The minimum number of bodies retained; at most twice as many are.
    static let cacheSize = 2048

    private let cache = Mutex(Cache())
    let readsPlainTexts: Bool

    /// - Parameter readsPlainTexts: see ``BackendCapabilities/plainTexts``.
    init(readsPlainTexts: Bool = false) { self.readsPlainTexts = readsPlainTexts }

    /// Sets the names recognized as mentions.
    func setMembers(_ members: [Member]) {
        let names = MentionNames(members)
        cache.withLock { cache in
            guard names != cache.names else { return }
            cache.names = names
            cache.forgetNames()
        }
    }

    /// Updates the names of renamed or new members, given with their earlier state.
    func changeMembers(_ changes: [(before: Member?, after: Member)]) {
        let changes = changes.filter { $0.before?.displayName != $0.after.displayName }
        guard !changes.isEmpty else { return }
        cache.withLock { cache in
            for (before, after) in changes { cache.names.change(before, to: after) }
            cache.forgetNames()
        }
    }

    /// Whether a body may change with the members' names.
    func mayDependOnNames(_ message: Message) -> Bool {
        message.isMarkdown(readsPlainTexts: readsPlainTexts) && message.text.utf8.contains(UInt8(ascii: "@"))
    }

    /// The number of bodies parsed so far.
    var parsedCount: Int { cache.withLock(\.parsedCount) }

    /// The body of a message, empty for a deleted one.
    func body(of message: Message) -> MessageBody {
        guard !message.isDeleted else { return MessageBody() }
        let source = source(of: message)
        if let body = cache.withLock({ $0.body(message.id, source) }) { return body }
        return parse(message.id, source)
    }

    /// Parses those of these messages that are not cached. Stays on the caller's thread if all of them are.
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
        cache.withLock {
            $0.parsedCount += 1
            // Do not cache a body parsed with outdated names.
            if $0.names == names { $0.store(id, source, body) }
        }
        return body
    }
}

nonisolated extension Message {
    /// Whether a plain text counts as Markdown because an earlier version of this program sent it from this device.
    var isTypedHere: Bool { transactionID != nil }

    /// Whether ``text`` is Markdown when the message has no other form.
    fileprivate func isMarkdown(readsPlainTexts: Bool) -> Bool { !readsPlainTexts || isTypedHere }

    /// The syntax of ``text`` when the message has to be read from it.
    ///
    /// - Parameter readsPlainTexts: see ``BackendCapabilities/plainTexts``.
    func textSyntax(readsPlainTexts: Bool) -> WrittenText.Syntax {
        if let written = content.written { return written.syntax }
        return readsPlainTexts && content.formattedText == nil && !isTypedHere ? .plain : .markdown
    }
}
