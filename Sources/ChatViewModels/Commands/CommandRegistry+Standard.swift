import ChatCore
import Composer

nonisolated extension CommandRegistry {
    static func standard(_ translator: Translator) -> [Definition] {
        speaking(translator) + acting(translator)
    }

    /// Commands that send a message.
    private static func speaking(_ translator: Translator) -> [Definition] {
        [
            Definition("me", translator("<text>"), help: translator("Say what you do")) { text in
                .message(MessageCommand(text, isEmote: true))
            },
            Definition("plain", translator("<text>"), help: translator("Send text without Markdown")) { text in
                .message(MessageCommand(text, syntax: .plain))
            },
            Definition("spoiler", translator("<text>"), help: translator("Send text that readers uncover")) { text in
                .message(.spoiler(text))
            },
            Definition("shrug", translator("[text]"), help: #"¯\_(ツ)_/¯"#) { text in
                .message(.shrug(text))
            },
        ]
    }

    /// Commands that perform an action.
    private static func acting(_ translator: Translator) -> [Definition] {
        [
            Definition(
                "topic", translator("[topic]"), help: translator("Set what the room is about, or show it"),
                needs: .topic
            ) { topic throws(CommandProblem) in
                guard topic.count <= ChatLimits.topicLength else { throw .tooLong(limit: ChatLimits.topicLength) }
                return topic.isEmpty ? .showTopic : .setTopic(topic)
            },
            Definition("nick", translator("<name>"), help: translator("Change your name"), needs: .displayName) {
                typed throws(CommandProblem) in .setDisplayName(try Self.name(typed))
            },
            Definition("invite", translator("<name>"), help: translator("Ask somebody into the room"), needs: .invite) {
                .invite($0)
            },
            Definition("join", translator("<room>"), help: translator("Go to another room")) { .join($0) },
            Definition("rename", translator("<name>"), help: translator("Give the room another name")) {
                typed throws(CommandProblem) in .rename(try Self.name(typed))
            },
            Definition("remove", translator("<name>"), help: translator("Take somebody out of the room")) {
                .remove($0)
            },
            Definition("leave", help: translator("Leave the room")) { _ in .leave },
            Definition("clear", help: translator("Empty the view; nothing is deleted")) { _ in .clear },
            Definition("help", help: translator("List the commands")) { _ in .help },
        ]
    }

    private static func name(_ typed: String) throws(CommandProblem) -> String {
        guard let name = ChatLimits.roomName(from: typed) else { throw .tooLong(limit: ChatLimits.roomNameLength) }
        return name
    }
}
