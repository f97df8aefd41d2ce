import ChatCore
import ChatOutbox
import Composer
import MessageMarkup

/// What the user did to messages and the server has not taken yet: they are shown as they will be then.
///
/// What is shown follows from what is in the outbox alone, so that it is the same after another start. What the server
/// took is in the store before it leaves the outbox.
struct ChangeBook {
    private var rooms: [RoomID: [OutboxTarget: [OutboxItem]]] = [:]

    /// Brings a room in step with what is on its way there.
    /// - Returns: the messages that look otherwise than before.
    mutating func follow(_ items: [OutboxItem], in room: RoomID) -> Set<OutboxTarget> {
        var changes: [OutboxTarget: [OutboxItem]] = [:]
        for item in items {
            guard let target = item.request.action.target else { continue }
            changes[target, default: []].append(item)
        }
        let before = rooms[room] ?? [:]
        rooms[room] = changes.isEmpty ? nil : changes
        return Set(before.keys).union(changes.keys).filter { target in
            before[target]?.map(Self.look) != changes[target]?.map(Self.look)
        }
    }

    /// - Parameter event: what the server calls an echo of a message that it has.
    func shown(_ message: Message, event: MessageID? = nil, by own: MemberID) -> Message {
        guard let changes = rooms[message.roomID] else { return message }
        var items = changes[.message(message.id)] ?? []
        if let event { items += changes[.message(event)] ?? [] }
        if let transaction = message.transactionID { items += changes[.queued(transaction)] ?? [] }
        guard !items.isEmpty else { return message }
        var shown = message
        for item in items where !item.isFailed { shown.apply(item.request, by: own) }
        let latest = items.last { !$0.isFailed } ?? items.last
        shown.pendingChange = latest.flatMap(PendingChange.init)
        return shown
    }

    mutating func forget(_ room: RoomID) { rooms[room] = nil }

    /// What of an item decides how its message looks.
    private static func look(_ item: OutboxItem) -> Look { Look(request: item.request, isFailed: item.isFailed) }

    private struct Look: Equatable {
        var request: OutboxRequest
        var isFailed: Bool
    }
}

extension OutboxItem {
    var isFailed: Bool { if case .failed = state { true } else { false } }
}

extension Message {
    fileprivate mutating func apply(_ request: OutboxRequest, by own: MemberID) {
        guard !isDeleted else { return }
        switch request.action {
        case .send, .unreadable: break
        case .edit(_, let text):
            edit(
                to: Wording(MessageMarkup.plainText(of: text), written: text.unlessBlank), at: request.queuedAt)
        case .delete: delete()
        case .react(_, let text, let isGiven): setReaction(text, isGiven: isGiven, by: own)
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
        self.init(transaction: item.request.id, kind: kind, isRefused: item.isFailed)
    }
}
