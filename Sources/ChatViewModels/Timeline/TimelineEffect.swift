public import ChatCore
public import Composer

extension TimelineViewModel {
    /// What a view of the rows must do, delivered synchronously and in order.
    public nonisolated enum Effect: Equatable, Sendable {
        case changed([TimelineChange])
        /// All rows were replaced.
        case replaced
        /// Scroll to a row: a jump target, or the unread line.
        case reveal(TimelineItem.ID)
        /// Scroll just enough to make a row visible, because an action applies to it.
        case bringIntoView(TimelineItem.ID)
        /// Messages arrive while the user is not looking: scroll no further than the unread line at the top.
        case keepUnreadLineInView
        case restore(ScrollPosition)
        case revealNewest
        case revealOldest
        /// The page requested at this edge was loaded, or may be requested again.
        case finishedLoading(TimelineEdge)
        /// See ``TimelineViewModel/selectedRange(in:)``.
        case selectionChanged
        /// End what plays of these messages, also out of view.
        case filesDeleted(DeletedMessages)
        /// Messages from others have arrived; for screen readers.
        case arrived([MessageItem])
        /// Write messages to the clipboard.
        case copy(ClipboardFragment)
        /// Write plain text to the clipboard.
        case copyText(String)
        /// Ask for confirmation, then send the action.
        case confirm(TimelineConfirmation)
        /// Ask whether to react, then send the action of the answer.
        case askBeforeReacting(ReactionQuestion)
        /// Ask which room to forward these messages to.
        case forward([MessageID])
        case showHistory([MessageVersion])
    }

    /// Why the user's newest message cannot be edited (SLK-46).
    public nonisolated enum EditRejection: Equatable, Sendable {
        /// Its delivery is pending.
        case pending
        /// It could not be sent.
        case failed
        /// None is loaded.
        case noMessage
    }

    /// What concerns the composer and the rest of the window.
    public nonisolated enum Output: Equatable, Sendable {
        case edit(MessageID, EditableMessage)
        /// The user asked to edit the newest message, which is not possible.
        case notEdited(EditRejection)
        /// The user asked to reply to a message. Its preview does not have the warning about it yet.
        case reply(ReplyTarget, trust: MessageTrust? = nil)
        /// The display names of the members who are typing, in the order they began.
        case typing([String])
        /// The message being edited in the composer was deleted.
        case editedMessageDeleted(MessageID)
        /// The preview of the message being replied to, or the warning about it, may have changed.
        case replyTargetChanged(MessageID, ReplyTarget.Preview, trust: MessageTrust? = nil)
        /// The user has seen a message for the first time since the room was opened.
        case seen
        /// Encryption was enabled in the room.
        case encrypted
        /// A room event arrived, or a sync left some out: the room's topic, successor and similar state may have
        /// changed.
        case roomChanged
        /// Whether the user wants reactions in encrypted rooms, after being told that they are not encrypted.
        case choseReactions(Bool)
        case failed(ChatError)
    }
}
