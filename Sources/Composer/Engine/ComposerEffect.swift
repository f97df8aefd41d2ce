/// What a composer wants done after an event, in order.
public enum ComposerEffect: Hashable, Sendable {
    /// The text has changed by these edits, each in the text as the one before left it. Carrying them out on a
    /// copy of the text keeps it equal to the document's.
    case edited([AppliedEdit])
    /// Where the selection is now. Comes after every ``edited(_:)``.
    case selectionChanged(TextRange)
    /// The key was the composer's; nobody else should act on it.
    case keyHandled
    /// Hand this message over, and answer with `sendAccepted` or `sendFailed`.
    case send(ComposedMessage)
    /// Replace a stored message by this; `id` is the message's.
    case commitEdit(id: String, ComposedMessage)
    /// The edit of this message was left half done: undo goes back to it.
    case editSuspended(id: String)
    /// Begin to edit the newest message of one's own, if there is one.
    case editLastRequested
    /// Tell others that the user is typing, or stopped.
    case typing(Bool)
    /// The draft is due to be written: ``ComposerEngine/makeDraft()``.
    case draftChanged
    /// Put this on the clipboard, as plain text and as the composer's own type.
    case copied(ClipboardFragment)
    /// Something was not done.
    case rejected(ComposerRejection)
    /// Give the keyboard focus to the text, or away from it.
    case focusRequested(Bool)
    /// A provider is asked, or need not answer any more.
    case completion(CompletionRequest)
    /// A key that the host put into the table.
    case hostAction(String)
    /// What observers were told.
    case observed(ComposerObservation)
}

/// Why something was not done.
public enum ComposerRejection: Hashable, Sendable {
    /// So many units of the inserted text did not fit under the hard limit.
    case limit(rejected: Int)
    /// An interceptor denied the change.
    case denied(by: String)
    /// The host wanted the next deletion of a single character ignored (HKW-33).
    case deletionIgnored
    /// There is nothing to send.
    case empty
    /// The text is over the limit.
    case overLimit
    case notConnected
    /// The host does not take the message, for this reason in words for the user.
    case rejectedByHost(String)
    /// An attachment is still being uploaded, or its upload failed.
    case uploading
    /// The same text is on its way.
    case alreadySending
    case hidden
    /// Nothing is being edited.
    case notEditing
    /// Not offered where the selection is, or unknown.
    case format(String)
    /// No rule has this prefix, or it does not count where the caret is.
    case completion(String)
    /// The range does not hold the mention's text.
    case mention(Mention)
    case mediaType(String)
    case attachmentCount(limit: Int)
    case attachmentSize(limit: Int)
    /// A message is being edited, which takes no attachments.
    case attachmentWhileEditing
    /// A draft that could not be read, or that came when the composer was in use.
    case draft(DraftError)
}

/// What observers are told, and what bug reports list.
public enum ComposerObservation: String, Hashable, Sendable, Codable, CaseIterable {
    case textChanged, selectionChanged, stylesChanged, preeditChanged
    case undone, redone, formatted, copied, pasted
    case loaded, sent, sendAccepted, sendFailed, unsentRestored
    case editBegan, editCommitted, editCancelled, editKept, editLastRequested, replyChanged
    case attachmentsChanged, limitExceeded, limitMet, refused
    case typingStarted, typingStopped, peerTypingChanged
    case focused, unfocused, hidden, shown, heightChanged
    case completionOpened, completionShown, completionChanged, completionHidden, completionAccepted, completionClosed
    case mentionCreated, mentionSelected, mentionTrimmed, mentionDeleted
}
