import ChatCore
import Composer

/// What is read, and what of it can be edited.
extension TimelineViewModel {
    // MARK: Reading

    func scrolled(to place: ReadingPlace?) {
        // The end of a detached stretch is not the newest message.
        guard state.isLoaded, place != nil || !state.isDetached else { return }
        self.place = place
        placeWriter.put(place)
        isAtNewest = place == nil
        markRead()
    }

    func attended(_ isAttended: Bool) {
        guard isAttended != self.isAttended else { return }
        self.isAttended = isAttended
        markRead()
    }

    /// What is in view at the end: forward only, each message once, and none that the backend has not acknowledged.
    private func markRead() {
        guard isAttended, isAtNewest, state.isLoaded, !state.isDetached,
            let newest = loaded.messages.last(where: { $0.delivery == .sent }),
            readPosition.map({ $0 < newest.position }) ?? true
        else { return }
        readPosition = newest.position
        perform { [roomID] service in try await service.markRead(newest.id, in: roomID) }
    }

    // MARK: Editing

    /// A message that is gone cannot be edited any more, and not be answered.
    func tellComposer(of update: TimelineUpdate) {
        for id in Set([editing, answering].compactMap { $0 }) {
            var changed: Message?
            if case .changed(let messages) = update { changed = messages.last { $0.id == id } }
            var isGone = changed?.isDeleted ?? false
            if case .removed(let ids) = update, ids.contains(id) { isGone = true }
            if isGone, id == editing { onOutput?(.editedMessageDeleted(id)) }
            guard id == answering, isGone || changed != nil else { continue }
            let text = changed.map { layout.quotedText($0) } ?? ""
            onOutput?(.answeredMessage(id, isGone ? .gone : .text(text)))
        }
    }

    /// The newest own message that can be edited, of those that are loaded.
    public var lastEditable: MessageItem? {
        rows.reversed().lazy.compactMap(\.message).first { $0.canEdit }
    }

    func editLast() {
        jump(to: .newest, revealing: state.isDetached) { model in
            if let item = model.lastEditable { model.onOutput?(.edit(item.id, text: item.text)) }
        }
    }
}
