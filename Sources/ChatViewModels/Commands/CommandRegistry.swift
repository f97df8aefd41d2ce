public import ChatCore
public import Composer

/// The slash commands available in a conversation.
///
/// A text is a command if it starts with a slash and a name: `/usr/bin` and `/ x` are text, and `//me` sends `/me`.
public nonisolated struct CommandRegistry: Sendable {
    /// The declaration of a command.
    public struct Definition: Sendable {
        /// The name in lower case, without the slash.
        public var name: String
        /// The arguments as displayed, such as `<text>`; optional ones in square brackets.
        public var arguments: String
        /// A short description.
        public var help: String
        /// The backend capabilities it requires.
        public var needs: BackendCapabilities
        /// Parses the text after the name, which is trimmed.
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
    ///   - capabilities: the backend's; commands that require others are not offered.
    ///   - added: custom commands; they replace standard ones of the same name.
    public init(capabilities: BackendCapabilities, translator: Translator, adding added: [Definition] = []) {
        let standardDefinitions = Self.standard(translator).filter { one in !added.contains { $0.name == one.name } }
        definitions = standardDefinitions + added
        self.capabilities = capabilities
        self.translator = translator
    }

    /// The commands that the backend supports.
    public var offered: [Definition] { definitions.filter { capabilities.isSuperset(of: $0.needs) } }

    /// Parses a text; returns `nil` if it is not a command.
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

    /// The completion index for a slash at the start of the text.
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
            return translator("Action messages cannot include files. Send the files separately.")
        } catch {
            return error.text(translator)
        }
    }
}
