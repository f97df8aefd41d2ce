public import ChatCore
public import Composer

/// The commands that a conversation knows: what they are called, take and do.
///
/// A text is a command if it begins with a slash and a name: `/usr/bin` and `/ x` are text, and `//me` sends `/me`.
public nonisolated struct CommandRegistry: Sendable {
    /// A command as it is listed and read.
    public struct Definition: Sendable {
        /// Without the slash, in lower case.
        public var name: String
        /// What stands behind the name, as in `<text>`; brackets around what may be left out.
        public var arguments: String
        /// What it does, in a few words.
        public var help: String
        /// What the backend must be able to do for it.
        public var needs: BackendCapabilities
        /// What it asks for, given what stands behind the name, without white space at the ends.
        public var read: @Sendable (String) throws(CommandProblem) -> ChatCommand

        public init(
            _ name: String, _ arguments: String = "", help: String, needs: BackendCapabilities = [],
            read: @escaping @Sendable (String) throws(CommandProblem) -> ChatCommand
        ) {
            self.name = name
            self.arguments = arguments
            self.help = help
            self.needs = needs
            self.read = read
        }

        var usage: String { arguments.isEmpty ? "/\(name)" : "/\(name) \(arguments)" }
    }

    public let definitions: [Definition]
    private let capabilities: BackendCapabilities
    private let translator: Translator

    /// - Parameters:
    ///   - capabilities: what the backend can do; commands that need more are not offered.
    ///   - added: commands of the host's own; one with a name that is there already takes its place.
    public init(capabilities: BackendCapabilities, translator: Translator, adding added: [Definition] = []) {
        let standardDefinitions = Self.standard(translator).filter { one in !added.contains { $0.name == one.name } }
        definitions = standardDefinitions + added
        self.capabilities = capabilities
        self.translator = translator
    }

    /// Those that the backend can carry out.
    public var offered: [Definition] { definitions.filter { capabilities.isSuperset(of: $0.needs) } }

    /// What a text asks for; nil if it is a text to send as it is.
    public func command(in text: String) throws(CommandProblem) -> ChatCommand? {
        guard text.first == "/" else { return nil }
        if text.hasPrefix("//") { return .message(MessageCommand(String(text.dropFirst()))) }
        let written = text.dropFirst().prefix { !$0.isWhitespace }
        guard let first = written.first, first.isLetter, !written.contains("/") else { return nil }
        let name = written.lowercased()
        guard let definition = definitions.first(where: { $0.name == name }) else { throw .unknown(String(written)) }
        guard capabilities.isSuperset(of: definition.needs) else { throw .unavailable(name) }
        let rest = text.dropFirst(1 + written.count).drop(while: \.isWhitespace)
        let argument = String(rest.reversed().drop(while: \.isWhitespace).reversed())
        if definition.arguments.isEmpty, !argument.isEmpty { throw .argumentUnexpected(name) }
        if definition.arguments.first == "<", argument.isEmpty { throw .argumentMissing(usage: definition.usage) }
        return try definition.read(argument)
    }

    /// For completion behind a slash at the text's start.
    public var index: CompletionIndex {
        CompletionIndex(
            offered.map { one in
                let usage = one.arguments.isEmpty ? one.help : "\(one.arguments) — \(one.help)"
                return CompletionEntity(id: "/\(one.name)", name: one.name, detail: usage)
            })
    }
}

nonisolated extension CommandRegistry: ComposerSendGate {
    public func rejectionReason(of message: ComposedMessage) -> String? {
        do throws(CommandProblem) {
            let command = try command(in: message.text.source)
            guard command?.messageCommand?.isEmote ?? false, !message.attachments.isEmpty else { return nil }
            return translator("What you do goes without files. Send them by themselves.")
        } catch {
            return error.text(translator)
        }
    }
}
