public import ChatCore

extension TimelineViewModel {
    /// What views and the composer ask of a timeline, grouped by the part of it that answers.
    public nonisolated enum Action: Equatable, Sendable {
        case pages(PageAction)
        case reading(ReadingAction)
        case message(MessageID, MessageAction)
        case selection(SelectionAction)
        case failed(FailedMessagesAction)
        case composer(ComposerAction)
        case context(ContextAction)
    }

    /// Which messages are in memory.
    public nonisolated enum PageAction: Equatable, Sendable {
        /// The view has scrolled close to an end of the loaded messages.
        case load(TimelineEdge)
        case jump(TimelineDestination)
        /// Hides all messages so far until a jump loads others, or until the user opens the room again.
        case clear
    }

    /// Where the user is reading.
    public nonisolated enum ReadingAction: Equatable, Sendable {
        /// The view has scrolled to a position; `nil` for the newest message.
        case scrolled(to: ScrollPosition?)
        /// Whether the messages are visible in the active window. They are marked as read only while this holds.
        case attended(Bool)
    }

    /// The messages selected for copying, forwarding or deletion, and the selected text.
    public nonisolated enum SelectionAction: Equatable, Sendable {
        /// Selects or deselects a message.
        case toggle(MessageID)
        /// Deselects all messages.
        case clear
        /// Deselects all messages, or the text if no message is selected.
        case cancel
        /// Copies the selected messages and deselects them, or else the selected text, or else this message.
        case copy(focused: MessageID?)
        /// Asks which room to forward the selected messages to, and deselects them.
        case forward
        /// Asks for confirmation of a deletion.
        case requestDeletion
        /// Deletes the selected messages that are the user's own.
        case delete
        /// Selects this text; `nil` deselects.
        case select(MessageSelection?)
        /// Selects the text of all loaded messages.
        case selectAll
        /// Moves the end of the selected text, starting at a message if nothing is selected.
        case extend(SelectionStep, forward: Bool, from: MessageID)
        case press(TextPress)
    }

    /// The user's messages that failed to send.
    public nonisolated enum FailedMessagesAction: Equatable, Sendable {
        case retryAll
        /// Asks for confirmation before discarding them.
        case requestDiscard
        /// Discards those of these messages that are still failed. Others may have failed since the confirmation
        /// counted them.
        case discard([MessageID])
    }

    /// What the composer edits and replies to.
    public nonisolated enum ComposerAction: Equatable, Sendable {
        /// Asks the composer to edit the user's newest message (SLK-46).
        case editLast
        /// The composer edits this message, or none.
        case editing(MessageID?)
        /// The composer replies to this message, or to none.
        case replyingTo(MessageID?)
    }

    /// Changes outside the room that its rows depend on.
    public nonisolated enum ContextAction: Equatable, Sendable {
        case dayChanged
        /// The server can be reached again: what could not be asked for is asked for again.
        case cameOnline
        /// Whether sending is blocked until the user signs in again.
        case signedOut(Bool)
        /// Whether messages can be sent to the room.
        case acceptsMessages(Bool)
        case reactions(ReactionPolicy)
        /// The user wants no unencrypted reactions.
        case declinedReactions
    }
}

nonisolated extension TimelineViewModel.Action {
    /// Whether the action is possible in a room that was left, whose messages can only be read and copied.
    var isPossibleWhenClosed: Bool {
        switch self {
        // Answered without loading anything, so that the view does not wait forever.
        case .context, .composer(.editing), .composer(.replyingTo), .pages(.load): true
        case .message(_, .copy), .message(_, .copyLink), .message(_, .showHistory), .message(_, .forward): true
        case .selection(.toggle), .selection(.requestDeletion), .selection(.delete): false
        case .selection: true
        default: false
        }
    }
}

/// What the user can do with one message.
public nonisolated enum MessageAction: Equatable, Sendable {
    case reply
    case edit
    /// Copies the selected text if it includes the message, or else the whole message.
    case copy
    case copyLink
    /// Asks which room to forward the message to.
    case forward
    case showHistory
    /// Adds a reaction, or removes the user's own.
    case react(String)
    /// Adds a reaction, or removes the user's own, unless that is so already.
    case setReaction(String, isGiven: Bool)
    /// Adds a reaction after the user was told that it is not encrypted.
    case reactUnencrypted(String)
    /// Retries a failed message, or a rejected change to one.
    case retry
    /// Discards an upload or a rejected change at once; asks for confirmation before discarding a failed message.
    case requestDiscard
    /// Asks for confirmation of a deletion; a message that is still being uploaded is deleted without asking.
    case requestDeletion
    case delete
    /// Expands or collapses the row of events that begins with this one.
    case toggleEvents
}

nonisolated extension MessageItem {
    /// Whether the menu and the keys offer an action for this message.
    public func offers(_ action: MessageAction) -> Bool {
        switch action {
        case .reply: canReply
        case .edit: canEdit
        case .copy: canCopy
        case .copyLink: canCopyLink
        case .forward: canForward
        case .showHistory: hasHistory
        case .react, .setReaction, .reactUnencrypted: canReact
        case .retry: canRetry
        case .requestDeletion, .delete: canDelete
        case .requestDiscard, .toggleEvents: false
        }
    }

    /// Whether the menu has an item for this message. What is not among these actions needs the message's content: a
    /// reaction, a selection and the warning about the sender.
    public var offersMenu: Bool {
        let actions: [MessageAction] = [
            .copy, .copyLink, .reply, .edit, .forward, .showHistory, .retry, .requestDeletion,
        ]
        return message.hasContent || actions.contains(where: offers)
    }
}
