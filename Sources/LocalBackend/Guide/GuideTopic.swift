import ChatCore

/// A topic that the guide can explain, in Markdown. To present a feature, add an entry to ``table(_:_:)``; it then appears
/// in replies, suggestions and the news after an update.
struct GuideTopic: Identifiable, Sendable {
    enum ID: String, Codable, CaseIterable, Sendable {
        case sending, lineBreaks, growing, formatting, lists, undoing, editingLast, editing, deleting, drafts, rooms,
            notes, removing, offline, completing, commands, replying, accounts, files, searching, shortcuts

        /// The topics that are suggested, one after another.
        static let suggested: [ID] = [.completing, .formatting, .replying]
    }

    let id: ID
    /// Comma-separated keywords in the user's language. Keywords of four or more letters match as prefixes: `edit`
    /// matches `editing`.
    let words: String
    /// A one-line summary for lists.
    let line: String
    /// The reply to a question about the topic.
    let reply: String
    /// A sentence that suggests to try it.
    let suggestion: String

    static func table(_ translator: Translator, _ keys: GuideKeys) -> [GuideTopic] {
        let keys = ["send": keys.send, "newline": keys.newLine]
        return people(translator) + writing(translator, keys) + shaping(translator, keys) + changing(translator)
            + around(translator)
    }

    private static func people(_ translator: Translator) -> [GuideTopic] {
        [
            GuideTopic(
                id: .accounts,
                words: translator(
                    "account, matrix, sign in, login, log in, server, homeserver, people, friend, others"),
                line: translator("Sign in to Matrix to chat with others"),
                reply: translator(
                    "Choose **Add Account…** from the **+** menu above the rooms and enter your homeserver or Matrix ID. To read and write in encrypted rooms, set up encryption when Parlance offers it after you sign in."
                ),
                suggestion: translator(
                    "Choose **Add Account…** from the **+** menu above the rooms to chat with others.")),
            GuideTopic(
                id: .completing,
                words: translator("mention, completion, emoji, smiley"),
                line: translator("Type `@` for people, `#` for rooms, `:` for emoji"),
                reply: translator(
                    "Type `@` for people, `#` for rooms, or `:` for emoji. Choose with `Up` and `Down`, insert with `Tab`, close with `Escape`. A mention acts as one unit: `Backspace` selects it first, then shortens or deletes it."
                ),
                suggestion: translator("Type `@gu` and press `Tab` to mention me.")),
            GuideTopic(
                id: .commands,
                words: translator("command, slash, shrug, spoiler, topic"),
                line: translator("Type `/` for commands"),
                reply: translator(
                    "Start a message with `/` to see all commands: `/me` sends an action, `/spoiler` hides text until it is clicked, `/topic` sets the topic. Type `//` to send a message that starts with a slash."
                ),
                suggestion: translator("Type `/me waves` and send it.")),
            GuideTopic(
                id: .replying,
                words: translator("reply, replying, respond, quote a message, react, reaction, forward"),
                line: translator("Reply and react with the buttons next to a message"),
                reply: translator(
                    "Point at a message and select **Reply** or **React**, or focus the message and press `R`, `+`, or `F` to reply, react, or forward. Select the quote of a reply to jump to the original."
                ),
                suggestion: translator("Point at this message and select **Reply**.")),
        ]
    }

    private static func writing(_ translator: Translator, _ keys: [String: String]) -> [GuideTopic] {
        [
            GuideTopic(
                id: .sending,
                words: translator("send, return, enter"),
                line: translator("Press `{send}` to send", keys),
                reply: translator(
                    "Press `{send}` to send. Messages are saved to disk before they show as sent. Choose the key in **Preferences**.",
                    keys),
                suggestion: translator("Type a few words and press `{send}`.", keys)),
            GuideTopic(
                id: .lineBreaks,
                words: translator("line, newline, linebreak, shift, multiline, paragraph"),
                line: translator("Press `{newline}` for a new line", keys),
                reply: translator(
                    "Press `{newline}` for a new line, and `{send}` to send the whole message.", keys),
                suggestion: translator("Write two lines with `{newline}`.", keys)),
            GuideTopic(
                id: .growing,
                words: translator("grow, long, height, size, taller, scroll, big"),
                line: translator("The message field grows as you type"),
                reply: translator(
                    "The message field grows to four to eight lines, depending on the height of the window, and then scrolls. Press `Ctrl+Shift+E` to expand it."
                ),
                suggestion: translator("Write something long and watch the message field grow.")),
            GuideTopic(
                id: .files,
                words: translator("file, image, picture, photo, video, attach, paste, drop"),
                line: translator("Attach files with `Ctrl+O`, by pasting, or by dropping them"),
                reply: translator(
                    "Press `Ctrl+O`, paste, or drop files on the room. Press `Return` on an attachment to describe it for people who cannot see it."
                ),
                suggestion: translator("Drop an image on this room.")),
            GuideTopic(
                id: .drafts,
                words: translator("draft, unsent, crash, unfinished, lose, lost, saved, kill"),
                line: translator("Every room keeps its own draft"),
                reply: translator(
                    "Drafts are saved as you type, one for each room. Switch rooms, close the window, or lose power: your text and cursor are still there."
                ),
                suggestion: translator("Type something, switch to another room, and come back.")),
        ]
    }

    private static func shaping(_ translator: Translator, _ keys: [String: String]) -> [GuideTopic] {
        [
            GuideTopic(
                id: .formatting,
                words: translator("bold, italic, strike, code, format, markdown, style"),
                line: translator("Format with `Ctrl+B`, `Ctrl+I`, and `Ctrl+E`"),
                reply: translator(
                    "Select text and press `Ctrl+B` for **bold**, `Ctrl+I` for _italic_, `Ctrl+Shift+X` for ~~strikethrough~~, or `Ctrl+E` for `code`. Press again to remove it. You can also type Markdown."
                ),
                suggestion: translator("Select some text and press `Ctrl+B`.")),
            GuideTopic(
                id: .lists,
                words: translator("list, bullet, item, quote"),
                line: translator("Lists continue on the next line"),
                reply: translator(
                    "Start a line with `-` and a space, and press `{newline}` to add the next item. Press it again on an empty item to end the list.",
                    keys),
                suggestion: translator("Write a list: type `- one`, then press `{newline}`.", keys)),
            GuideTopic(
                id: .undoing,
                words: translator("undo, redo, ctrl z"),
                line: translator("Undo with `Ctrl+Z`, even after sending"),
                reply: translator(
                    "Press `Ctrl+Z` to undo and `Ctrl+Shift+Z` to redo, word by word. Each room remembers 1,000 steps."),
                suggestion: translator("Type a sentence and press `Ctrl+Z` a few times.")),
        ]
    }

    private static func changing(_ translator: Translator) -> [GuideTopic] {
        [
            GuideTopic(
                id: .editingLast,
                words: translator("up key, press up, arrow, last message"),
                line: translator("Press `Up` to edit your last message"),
                reply: translator(
                    "When the message field is empty, press `Up` to edit your last message. Press `Escape` to cancel."),
                suggestion: translator("Press `Up` in the empty message field and change what you just sent.")),
            GuideTopic(
                id: .editing,
                words: translator("edit, change, changing, correct, typo, mistake, fix, rewrite, rewriting"),
                line: translator("Edit any of your messages"),
                reply: translator(
                    "Open the menu of one of your messages and choose **Edit**. Others see that it was edited."),
                suggestion: translator("Choose **Edit** from the menu of one of your messages.")),
            GuideTopic(
                id: .deleting,
                words: translator("delete, deleting, deletion, erase, erasing, undo, unsend, take back"),
                line: translator("Delete any of your messages"),
                reply: translator(
                    "Open the menu of one of your messages and choose **Delete…**. The text is deleted from the disk, and a placeholder stays."
                ),
                suggestion: translator("Choose **Delete…** from the menu of one of your messages.")),
        ]
    }

    private static func around(_ translator: Translator) -> [GuideTopic] {
        [
            GuideTopic(
                id: .rooms,
                words: translator("room, rename, renaming, leave, leaving, group, conversation, channel, import"),
                line: translator("Create, rename, and leave rooms"),
                reply: translator(
                    "Press `Ctrl+N` to create a room. Rename it in **Room Details**. Leaving a room deletes its messages from this computer. **Import Chat History…** in the main menu brings rooms from other apps."
                ),
                suggestion: translator("Press `Ctrl+N` to create a room.")),
            GuideTopic(
                id: .searching,
                words: translator("search, find, look for, filter"),
                line: translator("Search a room with `Ctrl+F`, or all rooms with `Ctrl+Shift+F`"),
                reply: translator(
                    "Press `Ctrl+F` to search this room, or `Ctrl+Shift+F` to search all rooms. Filter with `from:`, `in:`, `before:`, `after:`, and `has:`."
                ),
                suggestion: translator("Press `Ctrl+F` and type a word.")),
            GuideTopic(
                id: .shortcuts,
                words: translator("shortcut, keyboard, keys, dark, light, preference, setting"),
                line: translator("See all shortcuts with `Ctrl+?`"),
                reply: translator(
                    "Press `Ctrl+?` to see all keyboard shortcuts, and `Ctrl+,` for **Preferences**, with light and dark style."
                ),
                suggestion: translator("Press `Ctrl+?` to see all keyboard shortcuts.")),
            GuideTopic(
                id: .notes,
                words: translator("note, reminder, remember"),
                line: translator("Notes is just for you"),
                reply: translator("Notes is a private room for lists, links, and reminders. I am not in it."),
                suggestion: translator("Write yourself a reminder in Notes.")),
            GuideTopic(
                id: .removing,
                words: translator(
                    "remove you, get rid, go away, stop, quiet, silence, annoying, who are you, robot, bot, guide"),
                line: translator("Remove me at any time"),
                reply: translator(
                    "I am part of Parlance: a few fixed answers, no AI and no network. To remove me, open **Room Details** and select **Remove** next to my name."
                ),
                suggestion: translator("Open **Room Details** to see the members.")),
            GuideTopic(
                id: .offline,
                words: translator("offline, internet, network, privacy, private, secret, cloud, data, store"),
                line: translator("Works offline, without an account"),
                reply: translator(
                    "These rooms stay on this computer, in a folder that only you can read. To chat with others, choose **Add Account…** from the **+** menu above the rooms and sign in to Matrix."
                ),
                suggestion: translator("Switch off the network: everything here still works.")),
        ]
    }
}
