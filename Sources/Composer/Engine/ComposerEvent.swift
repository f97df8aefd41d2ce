/// An input to a composer. Offsets are in UTF-16 code units. Ranges are clamped to the text and aligned to the start
/// of grapheme clusters.
public enum ComposerEvent: Sendable {
    // MARK: Text

    /// Replace a range with a text.
    case edit(TextRange, replacement: String, origin: EditOrigin)
    /// Replace the selection with a text.
    case insert(String, origin: EditOrigin)
    /// Backspace: delete the selection, or else the grapheme cluster or word before the caret.
    case deleteBackward(byWord: Bool)
    /// Delete: delete the selection, or else the grapheme cluster or word after the caret.
    case deleteForward(byWord: Bool)
    /// Select a range or move the caret.
    case select(TextRange)
    /// The pointer starts or ends selecting: completion and observers only see the final selection (SLK-61, HKW-20).
    case holdSelection(Bool)
    /// The preedit text of the input method, empty when it ends; never part of the document.
    case preedit(String)
    /// Text committed by the input method, which ends the preedit.
    case commit(String)
    case key(KeyChord)
    /// Move a range to an offset outside of it, with the mentions and images that it covers, and select it there, as
    /// one undo step. Ignored while the input method has preedit text, which would replace what is selected.
    case moveText(TextRange, to: Int)
    case undo
    case redo

    // MARK: Clipboard

    case cut
    case copy
    /// Paste or drop at the selection, with the offers in advertised order.
    case paste([PasteOffer])
    /// Paste from the composer's internal clipboard.
    case pasteInternalClipboard

    // MARK: Formatting

    /// Toggle the Markdown rule with this title or symbol on the selection (SLK-29).
    case format(String)
    /// Set or remove a style on the selection, or without one for the text typed next (HKW-13).
    case setStyle(TextStyle, Bool)
    /// Remove all styles from the selection (SLK-35).
    case clearStyles

    // MARK: Content and modes

    /// Set the content by code, as one undo step, without opening completion. The caret moves to the end unless a
    /// selection is given.
    case load(WrittenText, selection: TextRange? = nil)
    /// Clear the text, undoably.
    case clear
    /// Append a text to the new message by code, on a line of its own, undoably (SLK-34). The selection stays. While a
    /// sent message is edited, the text joins the content to be restored afterwards.
    case appendToMessage(String)
    /// Start editing a sent message; the current content is restored afterwards (SLK-15). Undo returns to another
    /// unfinished edit. `mayBeEmpty` is set for messages with attachments.
    case startEdit(id: String, WrittenText, selection: TextRange? = nil, mayBeEmpty: Bool = false)
    case commitEdit
    case cancelEdit
    /// The host failed to save this edit: reopen it as soon as no other message is being edited, and the input method
    /// has no preedit text.
    case editFailed(id: String, ComposedMessage)
    /// The message was deleted, which ends its edit.
    case messageDeleted(id: String)
    /// Reply to a message, which ends an edit; undo returns to an unfinished one. `nil` removes the reply.
    case reply(ReplyTarget?)
    /// Update the preview of the message being replied to; ignored for other messages.
    case replyPreview(id: String, ReplyTarget.Preview)
    case attach(Attachment)
    /// Remove the attachment at this index; ignored if out of range.
    case detach(Int)
    /// The upload state of the attachment at this index.
    case upload(Int, Attachment.Upload)
    /// Move an attachment to another index; ignored if either is out of range.
    case moveAttachment(from: Int, to: Int)
    /// Set the alternative text of the attachment at this index, or remove it; ignored if out of range.
    case describeAttachment(Int, String?)
    /// Insert the image at this attachment index at the selection, moving it if it is already in the text. Ignored
    /// for other types and until the upload is ready (MIB-19).
    case placeInText(Int)
    /// Update the attachment with this source, including one set aside during an edit; ignored if there is none. Only
    /// for sources that no two attachments share.
    case updateAttachment(source: String, Attachment)

    // MARK: Sending

    /// The measured size of the resulting message, or `nil` if the limit is far off. Text typed since then counts
    /// with its own bytes (SLK-14).
    case measured(MeasuredSize?)

    case send
    case sendAccepted(String)
    case sendFailed(String)
    /// Restore the oldest edit that failed to be saved, or else the oldest failed message, into an empty composer.
    case restoreFailedMessage
    case connected(Bool)

    // MARK: Completion and mentions

    /// Open completion with a prefix, inserting it if necessary; for example from a button (SLK-25).
    case complete(String)
    /// A batch of results of the query with this identifier; ignored after a newer query (HKW-46).
    case completionResults(query: String, [CompletionEntity], isFinal: Bool)
    /// The provider failed; the reason is shown to the user.
    case completionFailed(query: String, reason: String? = nil)
    /// Retry a failed query; ignored without a failure.
    case retryCompletion
    /// Select a row; ignored if out of range.
    case selectCompletion(Int)
    /// Accept a row; `nil` for the selected one.
    case acceptCompletion(Int?)
    /// Accept an entity from a list of the host (HKW-70).
    case acceptEntity(CompletionEntity)
    /// Close completion, and keep it closed for the current token.
    case cancelCompletion
    /// Add a mention if its text equals that of the range (HKW-67).
    case addMention(Mention, over: TextRange)

    // MARK: Spelling

    /// Start checking the text's spelling, or stop. Starting again discards all results, as after a change of
    /// dictionaries.
    case checkSpelling(Bool)
    /// The misspelled words of a ``SpellingRequest``; ignored unless it is the last one.
    case spellingChecked(request: Int, misspelled: Set<String>)
    /// Treat a word as correct in this composer.
    case ignoreWord(String)
    /// Replace a misspelled word, undoably; ignored if it is no longer misspelled. The selection stays on its
    /// characters.
    case replaceWord(TextRange, with: String)

    // MARK: Window

    case focus(Bool)
    case hide(Bool)
    case expand(Bool)
    case layout(ComposerLayout)
    /// Another user started or stopped typing.
    case userTyping(name: String, Bool)
}
