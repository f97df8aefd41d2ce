public import ChatCore

/// The program without a window, and the actions of notifications.
extension AccountsCoordinator {
    /// Returns whether a restart without a window interrupts nothing, after which all accounts go on by themselves;
    /// `false` if that is uncertain.
    /// - Parameter losingUndo: whether composers may lose what they can undo and redo, which is not stored.
    public func mayRestart(losingUndo: Bool) async -> Bool {
        guard !hasWindow, roomWindows.isEmpty, verifications.current == nil, !isWaiting else { return false }
        guard losingUndo || coordinatorIDs.allSatisfy({ coordinator(of: $0)?.canUndo != true }) else { return false }
        await flushDrafts()
        guard !isWorking, !hasUnstoredDraft else { return false }
        guard await service?.mayRestart() ?? true else { return false }
        return !isWorking
    }

    /// The status for the desktop's list of background apps; empty for none.
    public func backgroundStatus(_ translator: Translator) -> String {
        let count = rows.reduce(0) { $0 + $1.unreadCount }
        return count == 0 ? "" : translator.plural("{count} unread", "{count} unread", count)
    }

    /// Shows a notification's message: in the room's own window if it has one, otherwise in the main window. Does
    /// nothing if the account was signed out since. A user who has chosen another account or room meanwhile stays there,
    /// and a reply is started once they open the room.
    /// - Parameters:
    ///   - replies: whether to start a reply to the message.
    ///   - opening: called once the room is to be opened, when its account is open; not for who stays elsewhere.
    public func show(
        _ target: NotificationTarget, replies: Bool = false,
        opening: @escaping @MainActor (AccountRoom) -> Void = { _ in }
    ) {
        guard !hasAccountStates || isListed(target.account) else { return }
        let choice = UserChoice()
        if !hasWindow(of: target) { select(target.account, as: choice) }
        guard target.hasRoom else { return }
        Task {
            guard let coordinator = await openCoordinator(of: target.account) else { return }
            let isShown = hasWindow(of: target) || !isOutdated(choice)
            if replies, let message = target.message {
                coordinator.reply(to: message, in: target.room, as: choice)
            } else {
                coordinator.show(target.message, in: target.room, as: choice)
            }
            if isShown { opening(AccountRoom(target.account, target.room)) }
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

    /// Sends an inline reply to a notification; see ``deliver(_:)``. Ignores a blank text.
    public func send(_ text: String, answering target: NotificationTarget) async {
        if let reply = unsentReplies.accept(text, answering: target) { await deliver(reply) }
    }

    /// Sends a reply to a notification and marks its room as read up to the message, without a window. A text that
    /// cannot be sent is added to the room's draft, once the account is open. Until then it is on the disk; that for a
    /// room that was left waits there for the user's decision, see ``UnsentReplies``.
    public func deliver(_ reply: UnsentReplies.Reply) async {
        guard let reply = unsentReplies.beginDelivery(of: reply) else { return }
        defer { unsentReplies.endDelivery(of: reply) }
        // It is for the draft, which may have it already.
        guard reply.stage == .sending else { return }
        guard let coordinator = await openCoordinator(of: reply.account) else {
            // If that cannot be stored, the reply is sent once the account opens.
            guard await unsentReplies.move(reply, to: .waiting) else { return }
            // Nobody comes back to this reply for an account that was opened meanwhile.
            if let opened = self.coordinator(of: reply.account) { return await addToDraft(reply, in: opened) }
            return noteWaiting(reply)
        }
        await time.wait(atMost: Self.connectingTimeout) { coordinator.rooms.state.isLoaded }
        guard !coordinator.hasLeft(reply.room) else {
            await unsentReplies.move(reply, to: .waiting)
            return
        }
        if await coordinator.send(reply.text, as: reply.transaction, answeringIn: reply.room) {
            unsentReplies.remove(reply)
        } else {
            await unsentReplies.move(reply, to: .waiting)
            await addToDraft(reply, in: coordinator)
        }
        await markRead(reply.target)
    }

    /// Waits until an account is open, as after a start by a notification.
    private func openCoordinator(of account: String) async -> ConversationCoordinator? {
        await time.wait(atMost: Self.connectingTimeout) { [weak self] in
            self.map { $0.coordinator(of: account) != nil } ?? true
        }
        return coordinator(of: account)
    }
}
