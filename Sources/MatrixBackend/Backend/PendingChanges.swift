import ChatCore
import ChatOutbox
import Composer
import MessageMarkup

/// What the user did to messages and the server has not taken yet: they are shown as they will be then.
///
/// What is shown follows from what is in the outbox alone, so that it is the same after another start. What the server
/// took is in the store before it leaves the outbox.
struct PendingChanges {
    private var rooms: [RoomID: [OutboxTarget: [OutboxItem]]] = [:]

    /// Brings a room in step with what is on its way there.
    /// - Returns: the messages that look otherwise than before.
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

    /// - Parameter event: what the server calls an echo of a message that it has.
    func displayed(_ message: Message, event: MessageID? = nil, by ownUserID: MemberID) -> Message {
        guard let changes = rooms[message.roomID] else { return message }
        var items = changes[.message(message.id)] ?? []
        if let event { items += changes[.message(event)] ?? [] }
        if let transaction = message.transactionID { items += changes[.queued(transaction)] ?? [] }
        guard !items.isEmpty else { return message }
        var displayed = message
        for item in items where !item.isFailed { displayed.apply(item.request, by: ownUserID) }
        let latest = items.last { !$0.isFailed } ?? items.last
        displayed.pendingChange = latest.flatMap(PendingChange.init)
        return displayed
    }

    mutating func forget(_ room: RoomID) { rooms[room] = nil }

    /// What of an item decides how its message looks.
    private static func appearance(_ item: OutboxItem) -> Appearance {
        Appearance(request: item.request, isFailed: item.isFailed)
    }

    private struct Appearance: Equatable {
        var request: OutboxRequest
        var isFailed: Bool
    }
}

extension OutboxItem {
    var isFailed: Bool { if case .failed = state { true } else { false } }
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
        self.init(transaction: item.request.id, kind: kind, isRejected: item.isFailed)
    }
}
