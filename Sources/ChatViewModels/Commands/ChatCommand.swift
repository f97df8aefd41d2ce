public import ChatCore

/// What a text that begins with a slash asks for.
public nonisolated enum ChatCommand: Equatable, Sendable {
    /// A message, of another text or kind than was written.
    case say(SpokenCommand)
    case setTopic(String)
    case showTopic
    case setOwnName(String)
    case invite(String)
    case join(String)
    case leave
    case rename(String)
    case remove(String)
    case clear
    case help
}

extension ChatCommand {
    /// The message that it makes, if it makes one.
    nonisolated var spoken: SpokenCommand? { if case .say(let spoken) = self { spoken } else { nil } }
}

/// Why a command could not be carried out, in words for the user.
public nonisolated struct CommandFailure: Error, Equatable, Sendable {
    public var reason: String

    public init(_ reason: String) {
        self.reason = reason
    }
}

/// A message that a command makes.
public nonisolated struct SpokenCommand: Equatable, Sendable {
    public var text: String
    public var isEmote = false
    /// The message as HTML, where its text is not to be read as Markdown.
    public var html: String?

    public init(text: String, isEmote: Bool = false, html: String? = nil) {
        self.text = text
        self.isEmote = isEmote
        self.html = html
    }
}

extension SpokenCommand {
    /// A text that means what it says, Markdown signs and all.
    nonisolated static func plain(_ text: String) -> SpokenCommand {
        SpokenCommand(text: text, html: escaped(text))
    }

    /// A text that readers uncover. Programs that know no spoilers show it between bars.
    nonisolated static func spoiler(_ text: String) -> SpokenCommand {
        SpokenCommand(text: "||\(text)||", html: "<span data-mx-spoiler>\(escaped(text))</span>")
    }

    private nonisolated static func escaped(_ text: String) -> String {
        let marks: [Character: String] = ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;"]
        return text.map { $0.isNewline ? "<br>" : marks[$0] ?? String($0) }.joined()
    }
}

/// Why a text that begins with a slash is no command. Nothing was done, and the text stays in the composer.
public nonisolated enum CommandProblem: Error, Equatable, Sendable {
    case unknown(String)
    /// The backend can't do it.
    case unavailable(String)
    case argumentMissing(usage: String)
    case argumentUnexpected(String)
    case tooLong(limit: Int)

    public func text(_ translator: Translator) -> String {
        switch self {
        case .unknown(let name):
            translator("There is no command /{name}. Begin with // to send it as text.", ["name": name])
        case .unavailable(let name): translator("/{name} is not possible here.", ["name": name])
        case .argumentMissing(let usage): translator("Something is missing: {usage}", ["usage": usage])
        case .argumentUnexpected(let name): translator("/{name} takes nothing behind it.", ["name": name])
        case .tooLong(let limit):
            translator.plural(
                "That is longer than {count} character.", "That is longer than {count} characters.", limit)
        }
    }
}
