public import ChatCore

/// The program without a window, and the actions of notifications.
extension AccountsCoordinator {
    /// Returns whether a restart without a window interrupts nothing, after which all accounts go on by themselves;
    /// `false` if that is uncertain.
    /// - Parameter losingUndo: whether composers may lose what they can undo and redo, which is not stored.
    public func mayRestart(losingUndo: Bool) async -> Bool {
        guard !hasWindow, roomWindows.isEmpty, verifications.current == nil, !isWaiting else { return false }
        guard losingUndo || coordinatorIDs.allSatisfy({ coordinator(of: $0)?.canUndo != true }) else { return false }
        return await service?.mayRestart() ?? true
    }

    /// The status for the desktop's list of background apps; empty for none.
    public func backgroundStatus(_ translator: Translator) -> String {
        let count = rows.reduce(0) { $0 + $1.unreadCount }
        return count == 0 ? "" : translator.plural("{count} unread", "{count} unread", count)
    }

    /// Shows a notification's message: in the room's own window if it has one, otherwise in the main window.
    /// - Parameter replies: whether to start a reply to the message.
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

    /// Marks a notification's room as read up to the message, without a window. Returns once this is stored or has
    /// failed, which removes the notification but leaves the room unread.
    public func markRead(_ target: NotificationTarget) async {
        guard let message = target.message, let coordinator = await openCoordinator(of: target.account) else { return }
        do {
            try await coordinator.environment.service.markRead(message, in: target.room)
        } catch {
            coordinator.requests.show(.failed(ChatError(error)))
        }
    }

    /// Sends an inline reply to a notification and marks its room as read up to the message, without a window. A text
    /// that cannot be sent is added to the room's draft; for a closed account or a room that was left, see
    /// ``UnsentReplies``. Ignores a blank text.
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

    /// Waits until an account is open, as after a start by a notification.
    private func openCoordinator(of account: String) async -> ConversationCoordinator? {
        await time.wait(atMost: Self.connectingTimeout) { [weak self] in
            self.map { $0.coordinator(of: account) != nil } ?? true
        }
        return coordinator(of: account)
    }
}
