import ChatCore
import ChatOutbox
import ChatStore
import Composer
import Synchronization

/// What the user sent and the store does not have yet: local echoes of messages, and pending changes to messages.
///
/// One lock guards both, so that no reader sees a message without the changes that were queued after it.
final class UnsentMessages: Sendable {
    /// What an update of a room's outbox items changed.
    struct Update {
        var echoes: LocalEchoes.Change
        /// The messages whose pending changes differ.
        var targets: Set<OutboxTarget>
        /// Whether ``UnsentMessages/newest(in:)`` differs.
        var changesNewest: Bool
    }

    private struct State {
        var echoes: LocalEchoes
        var changes = PendingChanges()
    }

    private let ownUserID: MemberID
    private let state: Mutex<State>

    /// - Parameter unreadable: See ``LocalEchoes/unreadable``.
    init(ownUserID: MemberID, unreadable: String) {
        self.ownUserID = ownUserID
        state = Mutex(State(echoes: LocalEchoes(unreadable: unreadable)))
    }

    /// Accesses the echoes alone.
    func withEchoes<T: Sendable>(_ body: (inout LocalEchoes) -> T) -> T { state.withLock { body(&$0.echoes) } }

    /// Reconciles a room with its outbox items.
    func update(_ items: [OutboxItem], in room: RoomID) -> Update {
        state.withLock { state in
            let before = newest(in: room, state)
            let changes = items.filter { !state.echoes.isStored($0) }
            let targets = state.changes.update(changes, in: room)
            let echoes = state.echoes.update(items, in: room, by: ownUserID)
            return Update(echoes: echoes, targets: targets, changesNewest: newest(in: room, state) != before)
        }
    }

    /// Removes the echoes of messages that the store has.
    func resolve(_ messages: [Message], in room: RoomID) -> [MessageID] {
        state.withLock { state in
            let removed = state.echoes.resolve(messages, in: room)
            if !removed.isEmpty { state.changes.removeAccepted(of: messages, in: room) }
            return removed
        }
    }

    /// Forgets a room that was left.
    func forget(_ room: RoomID) {
        state.withLock { state in
            state.echoes.forget(room)
            state.changes.forget(room)
        }
    }

    // MARK: What is displayed

    /// Returns a message with the user's pending changes applied.
    func displayed(_ message: Message) -> Message { state.withLock { displayed(message, $0) } }

    /// Returns messages with the user's pending changes applied.
    func displayed(_ messages: [Message]) -> [Message] {
        state.withLock { state in messages.map { displayed($0, state) } }
    }

    /// Returns a page of stored messages with the echoes before a position, if it reaches the end of the timeline, and
    /// with all pending changes.
    func displayed(_ page: TimelinePage, of room: RoomID, before position: Int64 = .max) -> TimelinePage {
        var page = page
        page.messages = state.withLock { state in
            let echoes = page.hasNewer ? [] : state.echoes.messages(in: room).filter { $0.position < position }
            return (page.messages + echoes).map { displayed($0, state) }
        }
        return page
    }

    /// Returns the message of a transaction, stored or as a local echo, without pending changes.
    func message(of transaction: TransactionID, in room: RoomID, or store: ChatStore) async throws -> Message? {
        if let stored = try await store.message(of: transaction, in: room) { return stored }
        return withEchoes { $0.messages(in: room) }.first { $0.transactionID == transaction }
    }

    /// Returns the echo with this ID and what a change of it targets, or `nil` if there is none or it was deleted.
    func echo(_ id: MessageID, in room: RoomID) -> (message: Message, target: OutboxTarget)? {
        state.withLock { state in
            guard let echo = state.echoes.messages(in: room).first(where: { $0.id == id }),
                !displayed(echo, state).isDeleted, let transaction = LocalEchoes.transaction(of: id)
            else { return nil }
            return (echo, state.echoes.event(of: echo).map { .message($0) } ?? .queued(transaction))
        }
    }

    /// Returns the newest pending or failed message of a room, as the room list shows it.
    func newest(in room: RoomID) -> RoomSummary.LastMessage? { state.withLock { newest(in: room, $0) } }

    /// Returns summaries with pending messages as last messages, sorted by last activity.
    func displayed(_ rooms: [RoomSummary]) -> [RoomSummary] {
        var rooms = rooms
        var isChanged = false
        for index in rooms.indices {
            guard let newest = newest(in: rooms[index].id) else { continue }
            // A failed message does not replace newer messages of others.
            if newest.delivery == .failed, let last = rooms[index].lastMessage, last.sentAt > newest.sentAt { continue }
            isChanged = true
            rooms[index].lastMessage = newest
            rooms[index].lastActivity = max(rooms[index].lastActivity, newest.sentAt)
        }
        guard isChanged else { return rooms }
        return rooms.enumerated().sorted {
            ($0.element.lastActivity, $1.offset) > ($1.element.lastActivity, $0.offset)
        }.map(\.element)
    }

    private func displayed(_ message: Message, _ state: State) -> Message {
        state.changes.displayed(message, event: state.echoes.event(of: message), by: ownUserID)
    }

    private func newest(in room: RoomID, _ state: State) -> RoomSummary.LastMessage? {
        for echo in state.echoes.messages(in: room).reversed() {
            let echo = displayed(echo, state)
            if echo.isDeleted { continue }
            let text = echo.text.isEmpty ? echo.attachments.first?.name ?? "" : echo.text
            return RoomSummary.LastMessage(
                senderName: ownUserID.rawValue, isOwn: true,
                text: String(text.prefix(RoomSummary.LastMessage.maxCharacters)),
                syntax: echo.text.isEmpty ? nil : echo.written?.syntax ?? .markdown, sentAt: echo.sentAt,
                delivery: echo.delivery)
        }
        return nil
    }
}
