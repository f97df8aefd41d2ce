import ChatCore
import ChatOutbox
import Composer
import MessageMarkup

/// Changes to messages that the server has not accepted yet. Messages are displayed with them applied.
///
/// They derive from the outbox alone, so they survive a restart. An accepted change is in the store before the outbox
/// removes it; one of a local echo stays in the outbox as long as the echo.
struct PendingChanges {
    private var rooms: [RoomID: [OutboxTarget: [OutboxItem]]] = [:]

    /// Reconciles a room's changes with its outbox items.
    /// - Returns: The messages whose appearance changed.
    mutating func update(_ items: [OutboxItem], in room: RoomID) -> Set<OutboxTarget> {
        var changes: [OutboxTarget: [OutboxItem]] = [:]
        for item in items {
            guard let target = item.request.action.target else { continue }
            changes[target, default: []].append(item)
        }
        let before = rooms[room] ?? [:]
        rooms[room] = changes.isEmpty ? nil : changes
        return Set(before.keys).union(changes.keys).filter { target in
            before[target]?.map(Self.appearance) != changes[target]?.map(Self.appearance)
        }
    }

    /// Returns a message with its pending changes applied.
    /// - Parameter event: The event ID of an echo that the server has accepted.
    func displayed(_ message: Message, event: MessageID? = nil, by ownUserID: MemberID) -> Message {
        guard let changes = rooms[message.roomID] else { return message }
        var items = changes[.message(message.id)] ?? []
        if let event { items += changes[.message(event)] ?? [] }
        if let transaction = message.transactionID { items += changes[.queued(transaction)] ?? [] }
        guard !items.isEmpty else { return message }
        var displayed = message
        for item in items where !item.isFailed { displayed.apply(item.request, by: ownUserID) }
        let pending = items.filter { !$0.isAccepted }
        let latest = pending.last { !$0.isFailed } ?? pending.last
        displayed.pendingChange = latest.flatMap(PendingChange.init)
        displayed.pendingChange?.rejectedText = Self.rejectedText(among: items)
        return displayed
    }

    private static func rejectedText(among items: [OutboxItem]) -> WrittenText? {
        for item in items.reversed() {
            if case .edit(_, let text) = item.request.action { return item.isFailed ? text : nil }
        }
        return nil
    }

    /// Removes the accepted changes of messages that the store has.
    mutating func removeAccepted(of messages: [Message], in room: RoomID) {
        for message in messages { rooms[room]?[.message(message.id)]?.removeAll(where: \.isAccepted) }
    }

    mutating func forget(_ room: RoomID) { rooms[room] = nil }

    /// Returns the parts of an item that affect how its message is displayed.
    private static func appearance(_ item: OutboxItem) -> Appearance {
        Appearance(request: item.request, isFailed: item.isFailed, isAccepted: item.isAccepted)
    }

    private struct Appearance: Equatable {
        var request: OutboxRequest
        var isFailed: Bool
        var isAccepted: Bool
    }
}

extension OutboxItem {
    var isFailed: Bool { if case .failed = state { true } else { false } }
    var isAccepted: Bool { if case .accepted = state { true } else { false } }
}

extension Message {
    fileprivate mutating func apply(_ request: OutboxRequest, by ownUserID: MemberID) {
        guard !isDeleted else { return }
        switch request.action {
        case .send, .unreadable: break
        case .edit(_, let text):
            edit(
                to: Wording(MessageMarkup.plainText(of: text), written: text.unlessBlank), at: request.queuedAt)
        case .delete: delete()
        case .react(_, let text, let isAdded): setReaction(text, isAdded: isAdded, by: ownUserID)
        }
    }
}

extension PendingChange {
    fileprivate init?(_ item: OutboxItem) {
        let kind: Kind
        switch item.request.action {
        case .send, .unreadable: return nil
        case .edit: kind = .edit
        case .delete: kind = .deletion
        case .react: kind = .reaction
        }
        self.init(transaction: item.request.id, kind: kind, isRejected: item.isFailed, failure: item.failure)
    }
}
