public import ChatCore
public import Composer
import MessageMarkup

/// A parsed slash command.
public nonisolated enum ChatCommand: Equatable, Sendable {
    /// A message with a modified text or kind.
    case message(MessageCommand)
    case setTopic(String)
    case showTopic
    case setDisplayName(String)
    case invite(String)
    case join(String)
    case leave
    case rename(String)
    case remove(String)
    case clear
    case help
}

extension ChatCommand {
    /// The message to send, or `nil` if the command sends none.
    nonisolated var messageCommand: MessageCommand? { if case .message(let command) = self { command } else { nil } }

    /// Replaces a name by the identifier of the mention that the argument consists of: others may have the same name.
    nonisolated func identified(by text: WrittenText) -> ChatCommand {
        let mentions = text.mentions
        guard mentions.count == 1, let mention = mentions.first else { return self }
        switch (self, mention.target) {
        case (.invite(mention.text), .member(let id)): return .invite(id)
        case (.remove(mention.text), .member(let id)): return .remove(id)
        // A link also names the servers to join through.
        case (.join(mention.text), .room(let id, let via)):
            return .join(via.isEmpty ? id : mention.target.link?.address ?? id)
        default: return self
        }
    }
}

/// Why a command failed, as a localized text.
public nonisolated struct CommandFailure: Error, Equatable, Sendable {
    public var reason: String

    public init(_ reason: String) {
        self.reason = reason
    }
}

/// A message made from a command's argument.
public nonisolated struct MessageCommand: Equatable, Sendable {
    /// The trimmed argument, which is the end of the source; its mentions and styles are retained.
    public var argument: String
    /// The text inserted before the argument.
    public var before = ""
    public var after = ""
    public var isEmote = false
    /// Whether the whole message is a spoiler.
    public var isCovered = false
    public var syntax = WrittenText.Syntax.markdown

    public init(_ argument: String, isEmote: Bool = false, syntax: WrittenText.Syntax = .markdown) {
        self.argument = argument
        self.isEmote = isEmote
        self.syntax = syntax
    }
}

extension MessageCommand {
    /// A spoiler. Clients without spoiler support show it between `||`, if these delimiters can enclose it.
    public nonisolated static func spoiler(_ text: String) -> MessageCommand {
        var command = MessageCommand(text)
        (command.before, command.after) = ("||", "||")
        command.isCovered = true
        return command
    }

    /// Appends a shrug to the text.
    public nonisolated static func shrug(_ text: String) -> MessageCommand {
        var command = MessageCommand(text, syntax: .plain)
        command.after = (text.isEmpty ? "" : " ") + #"¯\_(ツ)_/¯"#
        return command
    }

    /// Converts the source text, including its marks, to that of the message to send.
    nonisolated func written(from text: WrittenText) -> WrittenText {
        var rest = text.source[...]
        while let last = rest.last, last.isWhitespace, !rest.hasSuffix(argument) { rest.removeLast() }
        let argumentRange = TextRange(
            location: rest.utf16.count - argument.utf16.count, length: argument.utf16.count)
        let marks = ComposerDocument(text).written(in: argumentRange).marks
        let shiftedMarks = marks.map { mark in
            var mark = mark
            mark.range.location += before.utf16.count
            return mark
        }
        let source = before + argument + after
        let written = WrittenText(source, syntax: syntax, marks: shiftedMarks) ?? WrittenText(source, syntax: syntax)
        guard isCovered, !MessageMarkup.body(of: written).isCovered else { return written }
        // `||` spans at most one paragraph and cannot be nested, so use a mark instead.
        let cover = WrittenText.Mark(.style(.spoiler()), over: TextRange(location: 0, length: argumentRange.length))
        let covered = WrittenText(argument, marks: marks + [cover])
        if let covered, MessageMarkup.body(of: covered).isCovered { return covered }
        // Markdown code blocks cannot be spoilers, so send the argument as plain text.
        return WrittenText(argument, syntax: .plain, marks: marks + [cover]) ?? written
    }
}

nonisolated extension MessageBody {
    /// Whether all of its text is hidden behind spoilers.
    fileprivate var isCovered: Bool { Self.isCovered(blocks) }

    private static func isCovered(_ blocks: [BodyBlock]) -> Bool {
        blocks.allSatisfy { block in
            switch block {
            case .text(let text), .heading(_, let text): isCovered(text)
            case .code: false
            case .quote(let blocks): isCovered(blocks)
            case .list(let list): list.items.allSatisfy { isCovered($0.blocks) }
            case .table(let table):
                isCovered(table.caption) && table.rows.allSatisfy { $0.allSatisfy { isCovered($0.text) } }
            case .rule: true
            case .details(let summary, let blocks): isCovered(summary) && isCovered(blocks)
            }
        }
    }

    private static func isCovered(_ text: InlineText) -> Bool {
        text.runs.allSatisfy { $0.spoiler != nil || $0.text.allSatisfy(\.isWhitespace) }
    }
}

/// Why a text starting with a slash is not a valid command. The text stays in the composer.
public nonisolated enum CommandProblem: Error, Equatable, Sendable {
    case unknown(String)
    /// The backend does not support the command.
    case unavailable(String)
    case argumentMissing(usage: String)
    case argumentUnexpected(String)
    case tooLong(limit: Int)

    public func text(_ translator: Translator) -> String {
        switch self {
        case .unknown(let name):
            translator("Unknown command /{name}. Start with // to send it as text.", ["name": name])
        case .unavailable(let name): translator("/{name} is not available in this room.", ["name": name])
        case .argumentMissing(let usage): translator("Usage: {usage}", ["usage": usage])
        case .argumentUnexpected(let name): translator("/{name} does not accept arguments.", ["name": name])
        case .tooLong(let limit):
            translator.plural(
                "Use up to {count} character.", "Use up to {count} characters.", limit)
        }
    }
}
