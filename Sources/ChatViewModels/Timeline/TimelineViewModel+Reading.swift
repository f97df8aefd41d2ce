import ChatCore
import Composer

/// Read receipts, editing and replying.
extension TimelineViewModel {
    // MARK: Reading

    func scrolled(to scrollPosition: ScrollPosition?) {
        // The end of a detached range is not the newest message.
        guard state.isLoaded, scrollPosition != nil || !state.isDetached else { return }
        self.scrollPosition = scrollPosition
        scrollPositionWriter.put(scrollPosition)
        isAtNewest = scrollPosition == nil
        markRead()
    }

    func attended(_ isAttended: Bool) {
        guard isAttended != self.isAttended else { return }
        self.isAttended = isAttended
        markRead()
    }

    /// Moves the read marker to the newest message in view: forward only, and never to a local echo.
    private func markRead() {
        guard isAttended, isAtNewest, state.isLoaded, !state.isDetached, !isOnItsWayElsewhere,
            let newest = loaded.messages.last(where: { $0.delivery == .sent }),
            readPosition.map({ $0 < newest.position }) ?? true
        else { return }
        readPosition = newest.position
        perform { [roomID] service in try await service.markRead(newest.id, in: roomID) }
    }

    /// Whether a jump elsewhere is in flight, during which the end of the timeline may scroll by unread.
    private var isOnItsWayElsewhere: Bool {
        if case .jump(let destination) = state.loading { destination != .newest } else { false }
    }

    // MARK: Editing

    /// Informs the composer when the message it edits or replies to changes or is deleted.
    func notifyComposer(of update: TimelineUpdate) {
        for id in Set([editing, replyingTo].compactMap { $0 }) {
            var changed: Message?
            if case .changed(let messages) = update { changed = messages.last { $0.id == id } }
            var isRemoved = changed?.isDeleted ?? false
            if case .removed(let ids) = update, ids.contains(id) { isRemoved = true }
            if isRemoved, id == editing { onOutput?(.editedMessageDeleted(id)) }
            guard id == replyingTo, isRemoved || changed != nil else { continue }
            let text = isRemoved ? nil : changed.map { layout.quotedText($0) }
            onOutput?(.replyTargetChanged(id, text.map { .text($0) } ?? .gone))
        }
    }

    /// The message that a draft replies to may have been deleted since the draft was stored.
    func checkReplyTarget() {
        guard let id = replyingTo else { return }
        if let message = loaded.message(id) {
            if message.isDeleted { onOutput?(.replyTargetChanged(id, .gone)) }
            return
        }
        Task { [weak self, service, roomID] in
            // Keep the current preview if the request fails.
            guard let found = try? await service.messages([id], in: roomID) else { return }
            guard let self, self.replyingTo == id, self.loaded.message(id) == nil else { return }
            let message = found.first { $0.id == id && !$0.isDeleted }
            self.onOutput?(.replyTargetChanged(id, message.map { .text(self.layout.quotedText($0)) } ?? .gone))
        }
    }

    /// The user's newest loaded message that can be edited.
    public var lastEditable: MessageItem? {
        rows.reversed().lazy.compactMap(\.message).first { $0.canEdit }
    }

    func editLast() {
        jump(
            Jump(destination: .newest, isRevealing: state.isDetached) { model in
                guard let item = model.lastEditable else { return }
                model.startEdit(item.id)
                model.onEffect?(.bringIntoView(.message(item.id)))
            })
    }

    func startEdit(_ id: MessageID) {
        guard let message = loaded.message(id) else { return }
        let editable = EditableMessage(
            message, body: bodies.body(of: message), readsPlainTexts: bodies.readsPlainTexts)
        onOutput?(.edit(id, editable))
    }
}
