import ChatCore
import Composer

/// The messages that the composer edits and replies to.
nonisolated struct ComposedMessages: Sendable {
    var editing: MessageID?
    var replyingTo: MessageID?

    /// What the composer has to know of an update: the message that it edits is gone, or the one that it replies to
    /// has changed.
    func outputs(of update: TimelineUpdate, by layout: TimelineLayout) -> [TimelineViewModel.Output] {
        Set([editing, replyingTo].compactMap { $0 }).flatMap { id -> [TimelineViewModel.Output] in
            var changed: Message?
            if case .changed(let messages) = update { changed = messages.last { $0.id == id } }
            var isRemoved = changed?.isDeleted ?? false
            if case .removed(let ids) = update, ids.contains(id) { isRemoved = true }
            var outputs: [TimelineViewModel.Output] = []
            if isRemoved, id == editing { outputs.append(.editedMessageDeleted(id)) }
            if id == replyingTo, isRemoved || changed != nil {
                outputs.append(.replyTargetChanged(id, preview(of: isRemoved ? nil : changed, by: layout)))
            }
            return outputs
        }
    }

    /// The preview of the message being replied to; `nil` stands for one that is gone.
    func preview(of message: Message?, by layout: TimelineLayout) -> ReplyTarget.Preview {
        message.map { $0.isDeleted ? .gone : .text(layout.quotedText($0)) } ?? .gone
    }
}

nonisolated extension ReplyTarget {
    init(_ item: MessageItem) {
        self.init(
            messageID: item.id.rawValue, sender: item.senderName, senderID: item.senderID.rawValue,
            preview: .text(PlainPreview.quote(item.body, attachments: item.attachments)))
    }
}
