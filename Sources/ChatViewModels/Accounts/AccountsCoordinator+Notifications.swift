public import ChatCore

/// What the answers to notifications do.
extension AccountsCoordinator {
    /// What the desktop's list of background programs says of the program; empty if there is nothing to say.
    public func backgroundStatus(_ translator: Translator) -> String {
        let count = rows.reduce(0) { $0 + $1.unreadCount }
        return count == 0 ? "" : translator.plural("{count} unread", "{count} unread", count)
    }

    /// Shows the room of a notification, at its message: in its own window if it has one, else in the main window.
    /// - Parameter replies: whether the composer begins a reply to the message.
    public func show(_ target: NotificationTarget, replies: Bool = false) {
        if !hasWindow(of: target) { select(target.account) }
        guard target.hasRoom else { return }
        Task {
            guard let coordinator = await openCoordinator(of: target.account) else { return }
            if replies, let message = target.message {
                coordinator.reply(to: message, in: target.room)
            } else {
                coordinator.show(target.message, in: target.room)
            }
        }
    }

    /// Marks the room of a notification as read up to its message; no window is needed. Returns once it is stored, or
    /// has failed: the notification is then gone and the room stays unread.
    public func markRead(_ target: NotificationTarget) async {
        guard let message = target.message, let coordinator = await openCoordinator(of: target.account) else { return }
        do {
            try await coordinator.environment.service.markRead(message, in: target.room)
        } catch {
            coordinator.requests.show(.failed(ChatError(error)))
        }
    }

    /// Sends what the user wrote into the notification of a room, and marks the room as read up to its message; no window
    /// is needed. A text that cannot be sent goes into the room's draft, see ``UnsentReplies`` for an account that is not
    /// open and a room that was left. A blank text does nothing.
    public func send(_ text: String, answering target: NotificationTarget) async {
        guard !text.allSatisfy(\.isWhitespace) else { return }
        guard let coordinator = await openCoordinator(of: target.account) else {
            return keep(text, answering: target)
        }
        await time.wait(atMost: Self.connectingTimeout) { coordinator.rooms.state.isLoaded }
        guard !coordinator.hasLeft(target.room) else {
            return unsentReplies.add(UnsentReplies.Reply(text, to: target))
        }
        await coordinator.send(text, answeringIn: target.room)
        await markRead(target)
    }

    /// Waits for an account that is still being opened, as after a start by a notification.
    private func openCoordinator(of account: String) async -> ConversationCoordinator? {
        await time.wait(atMost: Self.connectingTimeout) { [weak self] in
            self.map { $0.coordinator(of: account) != nil } ?? true
        }
        return coordinator(of: account)
    }
}
