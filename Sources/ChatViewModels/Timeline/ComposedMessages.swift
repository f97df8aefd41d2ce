import ChatCore
import Composer

/// The messages that the composer edits and replies to. Reports what the composer has to know of them.
final class ComposedMessages {
    private var editing: MessageID?
    private var replyingTo: MessageID?
    private let roomID: RoomID
    private let service: any TimelineBackend
    private let loaded: LoadedTimeline
    private let onOutput: (TimelineViewModel.Output) -> Void

    init(
        roomID: RoomID, service: any TimelineBackend, loaded: LoadedTimeline,
        onOutput: @escaping (TimelineViewModel.Output) -> Void
    ) {
        self.roomID = roomID
        self.service = service
        self.loaded = loaded
        self.onOutput = onOutput
    }

    /// Asks the composer to reply to a message.
    func reply(to item: MessageItem) {
        guard loaded.messages.message(item.id) != nil else { return }
        // The composer gets the present preview here, and needs no other once it reports the reply.
        replyingTo = item.id
        onOutput(.reply(ReplyTarget(item), trust: item.visibleTrust))
    }

    /// Asks the composer to edit a message.
    func edit(_ id: MessageID) {
        guard let message = loaded.messages.message(id) else { return }
        let bodies = loaded.bodies
        let editable = EditableMessage(
            message, body: bodies.body(of: message), readsPlainTexts: bodies.readsPlainTexts)
        onOutput(.edit(id, editable))
    }

    /// Notes which message the composer edits, and marks its row.
    func setEditing(_ id: MessageID?) {
        guard id != editing else { return }
        editing = id
        loaded.setEditing(id)
        if let id, loaded.messages.message(id)?.isDeleted == true { onOutput(.editedMessageDeleted(id)) }
    }

    /// Notes which message the composer replies to. It may have been deleted since the draft was stored, which may also
    /// lack the warning about it.
    func setReplyingTo(_ id: MessageID?) {
        guard id != replyingTo else { return }
        replyingTo = id
        guard let id else { return }
        if let message = loaded.messages.message(id) { return reportReply(to: id, message) }
        Task { [weak self, service, roomID] in
            // The composer keeps its preview if the request fails.
            guard let found = try? await service.messages([id], in: roomID) else { return }
            guard let self, replyingTo == id else { return }
            // What was loaded meanwhile is newer.
            reportReply(to: id, loaded.messages.message(id) ?? found.first { $0.id == id })
        }
    }

    /// Reports that the edited message is gone, or that the one being replied to has changed.
    func apply(_ update: TimelineUpdate) {
        for id in Set([editing, replyingTo].compactMap { $0 }) {
            var changed: Message?
            if case .changed(let messages) = update { changed = messages.last { $0.id == id } }
            var isRemoved = changed?.isDeleted ?? false
            if case .removed(let ids) = update, ids.contains(id) { isRemoved = true }
            if isRemoved, id == editing { onOutput(.editedMessageDeleted(id)) }
            if id == replyingTo, isRemoved || changed != nil { reportReply(to: id, isRemoved ? nil : changed) }
        }
    }

    /// Reports how the message being replied to is shown; `nil` stands for one that is gone.
    private func reportReply(to id: MessageID, _ message: Message?) {
        guard let message, !message.isDeleted else { return onOutput(.replyTargetChanged(id, .gone)) }
        onOutput(.replyTargetChanged(id, .text(loaded.layout.quotedText(message)), trust: message.trust))
    }
}

nonisolated extension ReplyTarget {
    init(_ item: MessageItem) {
        self.init(
            messageID: item.id.rawValue, sender: item.senderName, senderID: item.sender.rawValue,
            preview: .text(PlainPreview.quote(item.body, attachments: item.attachments)))
    }
}

nonisolated extension ReplyTarget.Preview {
    /// The preview behind the warning about its message. The composer, which stores it in the draft, shows only text.
    func marked(by trust: MessageTrust?, _ translator: Translator) -> Self {
        guard case .text(let text) = self else { return self }
        return .text(trust.marking(text, translator))
    }
}
