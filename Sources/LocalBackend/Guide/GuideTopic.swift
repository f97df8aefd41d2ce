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
                line: translator("Type @ for people, # for rooms, : for emoji"),
                reply: translator(
                    "Type @ for people, # for rooms, or : for emoji. Choose with Up and Down, insert with Tab, close with Escape. A mention acts as one unit: Backspace selects it first, then shortens or deletes it."
                ),
                invitation: translator("type @gu and press Tab to mention me.")),
            GuideTopic(
                id: .commands,
                words: translator("command, slash, shrug, spoiler, topic"),
                line: translator("Type / for commands"),
                reply: translator(
                    "Start a message with / to see all commands: /me sends an action, /spoiler hides text until it is clicked, /topic sets the topic. Type // to send a message that starts with a slash."
                ),
                invitation: translator("type /me waves and press Return.")),
            GuideTopic(
                id: .replying,
                words: translator("reply, replying, respond, quote a message"),
                line: translator("Reply with the arrow next to a message"),
                reply: translator(
                    "Select Reply next to a message, or focus the message and press R. Select the quote to jump to the original."
                ),
                invitation: translator("point at this message and select Reply.")),
        ]
    }

    private static func writing(_ translator: Translator) -> [GuideTopic] {
        [
            GuideTopic(
                id: .sending,
                words: translator("send, return, enter"),
                line: translator("Press Return to send"),
                reply: translator(
                    "Press Return to send. Messages are saved to disk before they show as sent."),
                invitation: translator("type a few words and press Return.")),
            GuideTopic(
                id: .lineBreaks,
                words: translator("line, newline, linebreak, shift, multiline, paragraph"),
                line: translator("Press Shift+Return for a new line"),
                reply: translator(
                    "Press Shift+Return for a new line, and Return to send the whole message."),
                invitation: translator("write two lines with Shift+Return.")),
            GuideTopic(
                id: .growing,
                words: translator("grow, long, height, size, taller, scroll, big"),
                line: translator("The message field grows as you type"),
                reply: translator(
                    "The message field grows to four to eight lines, depending on the height of the window, and then scrolls. Press Ctrl+Shift+E to expand it."
                ),
                invitation: translator("write something long and watch the message field grow.")),
            GuideTopic(
                id: .drafts,
                words: translator("draft, unsent, crash, unfinished, lose, lost, saved, kill"),
                line: translator("Every room keeps its own draft"),
                reply: translator(
                    "Drafts are saved as you type, one for each room. Switch rooms, close the window, or lose power: your text and cursor are still there."
                ),
                invitation: translator("type something, switch to another room, and come back.")),
        ]
    }

    private static func shaping(_ translator: Translator) -> [GuideTopic] {
        [
            GuideTopic(
                id: .formatting,
                words: translator("bold, italic, strike, code, format, markdown, style"),
                line: translator(
                    "Format with Ctrl+B, Ctrl+I, and Ctrl+E"),
                reply: translator(
                    "Select text and press Ctrl+B for bold, Ctrl+I for italic, Ctrl+Shift+X for strikethrough, or Ctrl+E for code. Press again to undo. You can also type Markdown."
                ),
                invitation: translator("type a few words, select one with Shift+Ctrl+Left and press Ctrl+B.")),
            GuideTopic(
                id: .lists,
                words: translator("list, bullet, item, quote"),
                line: translator("Lists continue on the next line"),
                reply: translator(
                    "Start a line with “- ” and press Shift+Return to add the next item. Press it again on an empty item to end the list."
                ),
                invitation: translator("write a list: “- one”, then Shift+Return.")),
            GuideTopic(
                id: .undoing,
                words: translator("undo, redo, ctrl z"),
                line: translator("Undo with Ctrl+Z, even after sending"),
                reply: translator(
                    "Press Ctrl+Z to undo and Ctrl+Shift+Z to redo, word by word. Each room remembers 1,000 steps."
                ),
                invitation: translator("type a sentence and press Ctrl+Z a few times.")),
        ]
    }

    private static func changing(_ translator: Translator) -> [GuideTopic] {
        [
            GuideTopic(
                id: .editingLast,
                words: translator("up key, press up, arrow, last message"),
                line: translator("Press Up to edit your last message"),
                reply: translator(
                    "When the message field is empty, press Up to edit your last message. Press Escape to cancel."
                ),
                invitation: translator("press Up in the empty message field and change what you just sent.")),
            GuideTopic(
                id: .editing,
                words: translator("edit, change, changing, correct, typo, mistake, fix, rewrite, rewriting"),
                line: translator("Edit any of your messages"),
                reply: translator(
                    "Open the menu of one of your messages and choose Edit. Others see that it was edited."
                ),
                invitation: translator("choose Edit from the menu of one of your messages.")),
            GuideTopic(
                id: .deleting,
                words: translator("delete, deleting, deletion, erase, erasing, undo, unsend, take back"),
                line: translator("Delete any of your messages"),
                reply: translator(
                    "Open the menu of one of your messages and choose Delete. The text is erased from the disk, and a placeholder stays."
                ),
                invitation: translator("choose Delete from the menu of one of your messages.")),
        ]
    }

    private static func around(_ translator: Translator) -> [GuideTopic] {
        [
            GuideTopic(
                id: .rooms,
                words: translator("room, rename, renaming, leave, leaving, group, conversation, channel"),
                line: translator("Create, rename, and leave rooms"),
                reply: translator(
                    "Select New Room above the room list to create a room. Rename it in Room Details. Leaving a room deletes its messages from this computer."
                ),
                invitation: translator("create a room.")),
            GuideTopic(
                id: .notes,
                words: translator("note, reminder, remember"),
                line: translator("Notes is just for you"),
                reply: translator(
                    "Notes is a private room for lists, links, and reminders. I am not in it."
                ),
                invitation: translator("write yourself a reminder in Notes.")),
            GuideTopic(
                id: .removing,
                words: translator(
                    "remove you, get rid, go away, stop, quiet, silence, annoying, who are you, robot, bot, guide"),
                line: translator("Remove me at any time"),
                reply: translator(
                    "I am part of Parlance: a few fixed answers, no AI and no network. To remove me, open Room Details and select Remove next to my name."
                ),
                invitation: translator("open Room Details to see the members.")),
            GuideTopic(
                id: .offline,
                words: translator(
                    "offline, internet, network, account, server, privacy, private, secret, cloud, data, store"),
                line: translator("Works offline, without an account"),
                reply: translator(
                    "These rooms stay on this computer, in a folder that only you can read. To chat with others, choose Add Account… from the main menu and sign in to Matrix."
                ),
                invitation: translator("choose Add Account… from the main menu to chat with others.")),
        ]
    }
}
