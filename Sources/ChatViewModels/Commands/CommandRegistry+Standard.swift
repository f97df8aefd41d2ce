import ChatCore
import Composer

nonisolated extension CommandRegistry {
    static func standard(_ translator: Translator) -> [Definition] {
        speaking(translator) + acting(translator)
    }

    /// Commands that send a message.
    private static func speaking(_ translator: Translator) -> [Definition] {
        [
            Definition("me", translator("<text>"), help: translator("Send an action message")) { text in
                .message(MessageCommand(text, isEmote: true))
            },
            Definition("plain", translator("<text>"), help: translator("Send text without Markdown")) { text in
                .message(MessageCommand(text, syntax: .plain))
            },
            Definition("spoiler", translator("<text>"), help: translator("Send a spoiler")) { text in
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
                "topic", translator("[topic]"), help: translator("Show or change the topic"),
                needs: .topic
            ) { topic throws(CommandProblem) in
                guard topic.count <= ChatLimits.topicLength else { throw .tooLong(limit: ChatLimits.topicLength) }
                return topic.isEmpty ? .showTopic : .setTopic(topic)
            },
            Definition("nick", translator("<name>"), help: translator("Change your display name"), needs: .displayName)
            {
                typed throws(CommandProblem) in .setDisplayName(try Self.name(typed))
            },
            Definition("invite", translator("<name>"), help: translator("Invite someone to this room"), needs: .invite)
            {
                .invite($0)
            },
            Definition("join", translator("<room>"), help: translator("Join or open a room")) { .join($0) },
            Definition("rename", translator("<name>"), help: translator("Rename this room")) {
                typed throws(CommandProblem) in .rename(try Self.name(typed))
            },
            Definition("remove", translator("<name>"), help: translator("Remove someone from this room")) {
                .remove($0)
            },
            Definition("leave", help: translator("Leave this room")) { _ in .leave },
            Definition("clear", help: translator("Clear the view without deleting messages")) { _ in .clear },
            Definition("help", help: translator("Show all commands")) { _ in .help },
        ]
    }

    private static func name(_ typed: String) throws(CommandProblem) -> String {
        guard let name = ChatLimits.roomName(from: typed) else { throw .tooLong(limit: ChatLimits.roomNameLength) }
        return name
    }
}
