/// An effect of an event, for the host to perform in order.
public enum ComposerEffect: Hashable, Sendable {
    /// The text changed by these edits, each relative to the text after the previous one. Applying them to a copy
    /// keeps it equal to the document.
    case edited([AppliedEdit])
    /// The current selection. Follows every ``edited(_:)``.
    case selectionChanged(TextRange)
    /// The composer handled the key; stop its propagation.
    case keyHandled
    /// Send this message, and respond with ``ComposerEvent/sendAccepted(_:)`` or ``ComposerEvent/sendFailed(_:)``.
    case send(ComposedMessage)
    /// Replace the sent message that has this `id`.
    case commitEdit(id: String, ComposedMessage)
    /// The edit of this message was suspended unfinished; undo returns to it.
    case editSuspended(id: String)
    /// Start editing the user's latest message, if any.
    case editLastRequested
    /// Send a typing notification: the user is typing, or stopped.
    case typing(Bool)
    /// Save the draft: ``ComposerEngine/makeDraft()``.
    case draftChanged
    /// Put this on the clipboard, as plain text and in the composer's own format.
    case copied(ClipboardFragment)
    /// An action was rejected.
    case rejected(ComposerRejection)
    /// Move the keyboard focus to the text, or away from it.
    case focusRequested(Bool)
    /// A request to the completion providers.
    case completion(CompletionRequest)
    /// Look up these words, and respond with ``ComposerEvent/spellingChecked(request:misspelled:)``.
    case checkSpelling(SpellingRequest)
    /// The misspelled words that overlap a part of the text. Sent after every ``edited(_:)``. A view moves its
    /// underlines with the edits: text inserted within one, but not at its ends, is underlined, too.
    case misspelled([TextRange], in: TextRange)
    /// The host action of a key binding.
    case hostAction(String)
    /// An observation, as reported to observers.
    case observed(ComposerObservation)
}

/// The reason why an action was rejected.
public enum ComposerRejection: Hashable, Sendable {
    /// The number of inserted units that exceeded the hard limit.
    case limit(rejected: Int)
    /// An interceptor denied the change.
    case denied(by: String)
    /// The host asked to ignore the next single-character deletion (HKW-33).
    case deletionIgnored
    /// There is nothing to send.
    case empty
    /// The text exceeds the limit.
    case overLimit
    case notConnected
    /// The host rejected the message; the reason is shown to the user.
    case rejectedByHost(String)
    /// An attachment is still uploading.
    case uploading
    /// The upload of an attachment failed: the user has to retry or remove it.
    case uploadFailed
    /// The same content is already being sent.
    case alreadySending
    case hidden
    /// No message is being edited.
    case notEditing
    /// The format is unknown or not available for the selection.
    case format(String)
    /// No rule has this prefix, or it isn't allowed at the caret.
    case completion(String)
    /// The text of the range differs from that of the mention.
    case mention(Mention)
    case mediaType(String)
    case attachmentCount(limit: Int)
    case attachmentSize(limit: Int)
    /// Attachments can't be added while editing a message.
    case attachmentWhileEditing
    /// The draft is invalid, or the composer was already in use.
    case draft(DraftError)
}

/// An event for observers and for bug reports.
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
