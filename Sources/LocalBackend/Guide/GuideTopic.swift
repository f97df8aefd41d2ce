import ChatCore

/// A topic that the guide can explain. To present a feature, add an entry to ``table(_:)``; it then appears in the
/// greeting, replies, suggestions and the news after an update.
struct GuideTopic: Identifiable, Sendable {
    enum ID: String, Codable, Sendable {
        case sending, lineBreaks, growing, formatting, lists, undoing, editingLast, editing, deleting, drafts, rooms,
            notes, removing, offline, completing, commands, replying

        /// The topics listed in the greeting, a short selection.
        static let first: [ID] = [
            .sending, .completing, .formatting, .editingLast, .replying, .drafts, .rooms, .offline,
        ]
    }

    let id: ID
    /// Comma-separated keywords in the user's language. Keywords of four or more letters match as prefixes: `edit`
    /// matches `editing`.
    let words: String
    /// A one-line summary for lists.
    let line: String
    /// The reply to a question about the topic.
    let reply: String
    /// The suggestion that follows "Something to try:".
    let invitation: String

    static func table(_ translator: Translator) -> [GuideTopic] {
        writing(translator) + completing(translator) + shaping(translator) + changing(translator)
            + around(translator)
    }

    private static func completing(_ translator: Translator) -> [GuideTopic] {
        [
            GuideTopic(
                id: .completing,
                words: translator("mention, completion, emoji, smiley, people"),
                line: translator("@ names people, # rooms, and : emoji, as in :smile."),
                reply: translator(
                    "Type @ for a person, # for a room or : and a few letters for an emoji. Up and Down choose, Tab or Return takes it, Escape closes the list. A name that was taken is one piece: Backspace first marks it, then shortens or removes it."
                ),
                invitation: translator("type @ and the beginning of my name, and press Tab.")),
            GuideTopic(
                id: .commands,
                words: translator("command, slash, shrug, spoiler, topic"),
                line: translator("/ at the beginning lists commands, such as /me and /spoiler."),
                reply: translator(
                    "A slash at the beginning of a message lists what there is: /me says what you do, /spoiler hides text until it is clicked, /topic tells what the room is about. Two slashes send a message that begins with one."
                ),
                invitation: translator("type /me waves and press Return.")),
            GuideTopic(
                id: .replying,
                words: translator("reply, replying, respond, quote a message"),
                line: translator("R on a message, or its arrow, replies to it."),
                reply: translator(
                    "The arrow beside a message replies to it, as does its menu, or R when it has the focus. The reply shows what it answers; a click on that goes there."
                ),
                invitation: translator("reply to this message: the arrow appears beside it.")),
        ]
    }

    private static func writing(_ translator: Translator) -> [GuideTopic] {
        [
            GuideTopic(
                id: .sending,
                words: translator("send, return, enter"),
                line: translator("Return sends what you typed."),
                reply: translator(
                    "Press Return to send. The message is stored on the disk before it appears as sent."),
                invitation: translator("type a few words and press Return.")),
            GuideTopic(
                id: .lineBreaks,
                words: translator("line, newline, linebreak, shift, multiline, paragraph"),
                line: translator("Shift+Return begins a new line."),
                reply: translator(
                    "Shift+Return begins a new line inside a message. Return alone sends it, with all its lines."),
                invitation: translator("write a message of two lines with Shift+Return.")),
            GuideTopic(
                id: .growing,
                words: translator("grow, long, height, size, taller, scroll, big"),
                line: translator("The field grows with your text, and shrinks back."),
                reply: translator(
                    "The field grows with what you type, up to a few lines in a small window and more in a tall one. Beyond that it scrolls, and after sending it is small again."
                ),
                invitation: translator("write something long and watch the field grow.")),
            GuideTopic(
                id: .drafts,
                words: translator("draft, unsent, crash, unfinished, lose, lost, saved, kill"),
                line: translator("What you have not sent yet is kept, in each room of its own."),
                reply: translator(
                    "Each room keeps its own unsent text, with the place of the cursor. It is saved while you type: go to another room, close the window, even cut the power, and it is still there."
                ),
                invitation: translator("type something without sending it, go to another room and come back.")),
        ]
    }

    private static func shaping(_ translator: Translator) -> [GuideTopic] {
        [
            GuideTopic(
                id: .formatting,
                words: translator("bold, italic, strike, code, format, markdown, style"),
                line: translator(
                    "Ctrl+B, Ctrl+I and Ctrl+E put the signs for bold, italic and code around what is selected."),
                reply: translator(
                    "Select some words and press Ctrl+B for bold, Ctrl+I for italic, Ctrl+Shift+X for struck out or Ctrl+E for code. The signs are Markdown; pressing the keys again takes them away. The message shows what they mean."
                ),
                invitation: translator("type a few words, select one with Shift+Ctrl+Left and press Ctrl+B.")),
            GuideTopic(
                id: .lists,
                words: translator("list, bullet, item, quote"),
                line: translator("A list goes on by itself on the next line."),
                reply: translator(
                    "Begin a line with “- ” and press Shift+Return at its end: the next item begins by itself. Shift+Return on an empty item ends the list."
                ),
                invitation: translator("write a list: “- one”, then Shift+Return.")),
            GuideTopic(
                id: .undoing,
                words: translator("undo, redo, ctrl z"),
                line: translator("Ctrl+Z undoes, word by word, even after sending."),
                reply: translator(
                    "Ctrl+Z takes back what you typed, word by word, and Ctrl+Shift+Z brings it again. It remembers a thousand steps in each room, also when you have been elsewhere."
                ),
                invitation: translator("type a sentence and press Ctrl+Z a few times.")),
        ]
    }

    private static func changing(_ translator: Translator) -> [GuideTopic] {
        [
            GuideTopic(
                id: .editingLast,
                words: translator("up key, press up, arrow, last message"),
                line: translator("Up, in an empty field, edits your last message."),
                reply: translator(
                    "With the field empty, the Up key takes your last message back for editing. Escape leaves it as it was."
                ),
                invitation: translator("press Up in the empty field and change what you just sent.")),
            GuideTopic(
                id: .editing,
                words: translator("edit, change, changing, correct, typo, mistake, fix, rewrite, rewriting"),
                line: translator("The menu of a message of yours has Edit."),
                reply: translator(
                    "Open the menu of one of your messages and choose Edit. Others see that it was edited; its place in the conversation stays the same."
                ),
                invitation: translator("edit one of your messages: its menu has Edit.")),
            GuideTopic(
                id: .deleting,
                words: translator("delete, deleting, deletion, erase, erasing, undo, unsend, take back"),
                line: translator("The same menu has Delete."),
                reply: translator(
                    "The menu of one of your messages has Delete. The text is erased from the disk, and a placeholder keeps its place."
                ),
                invitation: translator("delete one of your messages: its menu has Delete.")),
        ]
    }

    private static func around(_ translator: Translator) -> [GuideTopic] {
        [
            GuideTopic(
                id: .rooms,
                words: translator("room, rename, renaming, leave, leaving, group, conversation, channel"),
                line: translator("You can make rooms, rename them and leave them."),
                reply: translator(
                    "The room list makes a new room. An open room's menu renames it or leaves it; leaving deletes what was said in it from this computer."
                ),
                invitation: translator("make a room of your own and give it a name.")),
            GuideTopic(
                id: .notes,
                words: translator("note, reminder, remember"),
                line: translator("Notes is a room for yourself."),
                reply: translator(
                    "Notes is a room with nobody but you: a place for lists, links and things to remember. I am not in it and read nothing there."
                ),
                invitation: translator("write yourself a reminder in Notes.")),
            GuideTopic(
                id: .removing,
                words: translator(
                    "remove you, get rid, go away, stop, quiet, silence, annoying, who are you, robot, bot, guide"),
                line: translator("I am a small built-in guide. Remove me when you like."),
                reply: translator(
                    "I am a small guide that is part of this application: a list of things I know and a few rules, no more. When you have seen enough, remove me from the room's members; the room then is an ordinary one."
                ),
                invitation: translator("look at the members of this room: you can remove me there, when you like.")),
            GuideTopic(
                id: .offline,
                words: translator(
                    "offline, internet, network, account, server, privacy, private, secret, cloud, data, store"),
                line: translator("All of this works offline and stays on this computer."),
                reply: translator(
                    "These rooms live on this computer alone: no account, no network. They are kept in a folder that only you can read."
                ),
                invitation: translator("switch your network off: nothing here changes.")),
        ]
    }
}
