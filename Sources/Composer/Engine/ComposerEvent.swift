/// Something that happens to a composer. Offsets are UTF-16 units; a range is brought into the text, and its
/// ends are moved to the start of the grapheme cluster they lie in.
public enum ComposerEvent: Sendable {
    // MARK: Text

    /// The user replaces a range by a text, or code does.
    case edit(TextRange, replacement: String, origin: EditOrigin)
    /// The same at the selection.
    case insert(String, origin: EditOrigin)
    /// Backspace: the selection, else the cluster (or word) before the caret.
    case deleteBackward(byWord: Bool)
    /// Delete: the selection, else the cluster (or word) after the caret.
    case deleteForward(byWord: Bool)
    /// The user moves the caret or selects.
    case select(TextRange)
    /// The pointer begins to select, and ends: completion and observers hear of the selection at the end alone
    /// (SLK-61, HKW-20).
    case holdSelection(Bool)
    /// What an input method shows before it commits, empty when it is done: never part of the document.
    case preedit(String)
    /// What an input method commits; the preedit ends with it.
    case commit(String)
    case key(KeyChord)
    case undo
    case redo

    // MARK: Clipboard

    case cut
    case copy
    /// What a clipboard or a drop offers, as advertised; at the selection.
    case paste([PasteOffer])
    /// The composer's own clipboard.
    case pasteInternalClipboard

    // MARK: Form

    /// Toggles the Markdown rule with this title or symbol on the selection (SLK-29).
    case format(String)
    /// Gives the selection a style or takes it; without selection, what is typed next (HKW-13).
    case setStyle(TextStyle, Bool)
    /// Takes every style from the selection (SLK-35).
    case clearStyles

    // MARK: Content and modes

    /// Sets the content by code, as one undoable step; completion stays closed. Without a selection the caret is at the
    /// end.
    case load(WrittenText, selection: TextRange? = nil)
    /// Empties the text, undoably.
    case clear
    /// Starts editing a stored message; what was being written comes back afterwards (SLK-15). Another edit that is half
    /// done comes back by undo. One of a message with files may leave no text.
    case startEdit(id: String, WrittenText, selection: TextRange? = nil, mayBeEmpty: Bool = false)
    case commitEdit
    case cancelEdit
    /// The host could not store this edit: it is begun again as soon as nothing else is being edited.
    case editFailed(id: String, ComposedMessage)
    /// The message was deleted: its edit ends.
    case messageDeleted(id: String)
    /// Answers a message, which ends an edit; one that is half done comes back by undo. Nil stops answering.
    case reply(ReplyTarget?)
    /// What became known of the answered message; ignored for another than that.
    case replyPreview(id: String, ReplyTarget.Preview)
    case attach(Attachment)
    /// The attachment at this place; ignored outside of the list.
    case detach(Int)
    /// How far the upload of the attachment at this place is.
    case upload(Int, Attachment.Upload)
    /// Puts an attachment at another place of the list; ignored where either place is outside of it.
    case moveAttachment(from: Int, to: Int)
    /// Puts the picture at this place of the list into the text, at the selection; one that stands in the text moves.
    /// Ignored for what is no picture, and for one that is still on its way (MIB-19).
    case placeInText(Int)
    /// What became known of the attachment with this source, also of one that waits behind an edit; ignored if it is
    /// gone.
    case updateAttachment(source: String, Attachment)

    // MARK: Sending

    /// How large a message the text becomes, in a place that takes only so much; nil if that is far off. What is written
    /// until the next of these counts as it is (SLK-14).
    case measured(MeasuredSize?)

    case send
    case sendAccepted(String)
    case sendFailed(String)
    /// Brings the oldest failed message back into an empty composer.
    case restoreFailedMessage
    case connected(Bool)

    // MARK: Completion and mentions

    /// Opens completion with a prefix, which is written if need be: a button (SLK-25).
    case complete(String)
    /// A batch of a provider's answer to the query with this identifier; ignored if another was asked since (HKW-46).
    case completionResults(query: String, [CompletionEntity], isFinal: Bool)
    /// The provider failed to answer; the reason is in words for the user.
    case completionFailed(query: String, reason: String? = nil)
    /// Asks again what failed; nothing without a failure.
    case retryCompletion
    /// Selects a row; ignored outside of the list.
    case selectCompletion(Int)
    /// Accepts a row, or with nil the selected one.
    case acceptCompletion(Int?)
    /// Accepts an entity of a list of the host's own (HKW-70).
    case acceptEntity(CompletionEntity)
    /// Closes completion; it stays closed for the token.
    case cancelCompletion
    /// Marks a range as a mention if its text is exactly the mention's (HKW-67).
    case addMention(Mention, over: TextRange)

    // MARK: Window

    case focus(Bool)
    case hide(Bool)
    case expand(Bool)
    case layout(ComposerLayout)
    /// Somebody else starts or stops typing.
    case userTyping(name: String, Bool)
}
