import ChatCore
import ChatOutbox
import ChatStore
import Composer
import Foundation
import MessageMarkup

/// Sent messages that the sync has not returned yet, displayed at the end of their rooms.
///
/// They derive from the outbox's items alone, so they survive a restart. What is remembered besides are identifiers:
/// the events of accepted messages, and the transactions of those that the store has while the outbox still has them.
struct LocalEchoes {
    struct Change: Equatable {
        var changed: [Message] = []
        var removed: [MessageID] = []
    }

    private struct Echo {
        let transaction: TransactionID
        /// The source from which the message's text was made.
        var source: WrittenText
        var message: Message
    }

    private struct Acceptance {
        let event: MessageID
        /// The number of the last sync that had begun when the server accepted the message; `nil` if the event is not
        /// searched for.
        var sync: Int?

        func isMissing(after last: Int) -> Bool { sync.map { $0 < last } ?? false }
    }

    private struct Room {
        /// Sorted by position.
        var echoes: [Echo] = []
        var accepted: [TransactionID: Acceptance] = [:]
        /// The events of messages that the store has and the outbox may still have.
        var stored: [TransactionID: MessageID] = [:]
        /// The transactions of the last items.
        var queued: Set<TransactionID> = []

        func echo(of event: MessageID) -> Echo? { echoes.first { accepted[$0.transaction]?.event == event } }
    }

    /// Greater than every position in the store.
    private static let firstPosition: Int64 = 1 << 40
    private static let transactionPrefix = "~"

    /// Displayed instead of a queued message that cannot be decoded.
    let unreadable: String

    private var rooms: [RoomID: Room] = [:]
    private var position = firstPosition

    init(unreadable: String) { self.unreadable = unreadable }

    func messages(in room: RoomID) -> [Message] { rooms[room]?.echoes.map(\.message) ?? [] }

    static func id(of transaction: TransactionID) -> MessageID { MessageID(transactionPrefix + transaction.rawValue) }

    /// Returns the transaction of a local echo's ID, or `nil` for an event ID.
    static func transaction(of id: MessageID) -> TransactionID? {
        id.rawValue.hasPrefix(transactionPrefix)
            ? TransactionID(String(id.rawValue.dropFirst(transactionPrefix.count))) : nil
    }

    /// Makes a room's echoes those of its outbox items.
    mutating func update(_ items: [OutboxItem], in room: RoomID, by ownUserID: MemberID) -> Change {
        var change = Change()
        var state = rooms[room] ?? Room()
        let queued = Set(items.map(\.request.id))
        // An item that was never seen may still come: these may be items from before it was queued.
        state.stored = state.stored.filter { queued.contains($0.key) || !state.queued.contains($0.key) }
        state.queued = queued
        let before = state.echoes
        let earlier = Dictionary(before.map { ($0.transaction, $0) }, uniquingKeysWith: { first, _ in first })
        state.echoes = []
        for item in items where state.stored[item.request.id] == nil {
            guard let message = message(of: item.request) else { continue }
            let known = earlier[item.request.id]
            if known == nil { position += 1 }
            var echo = Self.makeMessage(
                message, item.request, text: known?.source == message.text ? known?.message.text : nil,
                isFailed: item.isFailed, by: ownUserID, at: known?.message.position ?? position)
            echo.upload = item.isFailed ? nil : item.upload
            echo.failure = item.failure
            if echo != known?.message { change.changed.append(echo) }
            state.echoes.append(Echo(transaction: item.request.id, source: message.text, message: echo))
        }
        state.echoes.sort { $0.message.position < $1.message.position }
        let displayed = Set(state.echoes.map(\.transaction))
        for echo in before where !displayed.contains(echo.transaction) {
            change.removed.append(echo.message.id)
            state.accepted[echo.transaction] = nil
        }
        rooms[room] = state
        return change
    }

    private func message(of request: OutboxRequest) -> WrittenMessage? {
        switch request.action {
        case .send(let message): message
        case .unreadable: WrittenMessage(WrittenText(unreadable, syntax: .plain), kind: .notice)
        default: nil
        }
    }

    /// Records the event ID of an accepted message. The echo stays until the sync returns the event, so the timeline
    /// publishes the sent message once, at its final position.
    /// - Parameter sync: The number of the last sync that has begun.
    mutating func accept(_ transaction: TransactionID, as event: MessageID, in room: RoomID, during sync: Int) {
        guard rooms[room]?.stored[transaction] == nil else { return }
        rooms[room, default: Room()].accepted[transaction] = Acceptance(event: event, sync: sync)
    }

    /// Returns the rooms with accepted messages that a sync begun after their acceptance did not return.
    func roomsMissing(after sync: Int) -> [RoomID] {
        rooms.keys.filter { earliestMissing(in: $0, after: sync) != nil }
    }

    /// Returns when the earliest of these messages was queued.
    func earliestMissing(in room: RoomID, after sync: Int) -> Date? {
        guard let state = rooms[room] else { return nil }
        let missing = state.echoes.filter { state.accepted[$0.transaction]?.isMissing(after: sync) ?? false }
        return missing.map(\.message.sentAt).min()
    }

    /// Stops searching for these messages until the room gets another gap.
    mutating func abandonMissing(in room: RoomID, after sync: Int) {
        for (transaction, acceptance) in rooms[room]?.accepted ?? [:] where acceptance.isMissing(after: sync) {
            rooms[room]?.accepted[transaction]?.sync = nil
        }
    }

    /// Resumes the search for abandoned messages, which may be in a new gap.
    mutating func restartSearch(in room: RoomID) {
        for (transaction, acceptance) in rooms[room]?.accepted ?? [:] where acceptance.sync == nil {
            rooms[room]?.accepted[transaction]?.sync = 0
        }
    }

    /// Returns the event ID of an echo's message, or `nil` if the server has not accepted it.
    func event(of message: Message) -> MessageID? {
        guard let room = rooms[message.roomID], let transaction = Self.transaction(of: message.id) else { return nil }
        return room.accepted[transaction]?.event
    }

    /// Returns the echo of an event that the sync has not returned yet.
    func localEcho(of event: MessageID, in room: RoomID) -> Message? { rooms[room]?.echo(of: event)?.message }

    /// Adds the written source to own messages; the server returns only the rendered forms.
    func authored(_ events: [TimelineEvent], in room: RoomID) -> [TimelineEvent] {
        guard let echoes = rooms[room]?.echoes, !echoes.isEmpty else { return events }
        return events.map { event in
            guard case .message(var new) = event, let transaction = new.transactionID,
                let echo = echoes.first(where: { $0.transaction == transaction })
            else { return event }
            new.written = echo.message.written
            return .message(new)
        }
    }

    /// Whether the store has the message of an item, or that of an accepted change, and so the change as well.
    func isStored(_ item: OutboxItem) -> Bool {
        guard let stored = rooms[item.request.room]?.stored, !stored.isEmpty else { return false }
        if case .accepted(let event) = item.state { return stored.values.contains(event) }
        return stored[item.request.id] != nil
    }

    /// The messages that the outbox need not retain any more.
    func stored(in room: RoomID) -> Set<TransactionID> { rooms[room].map { Set($0.stored.keys) } ?? [] }

    /// Marks a transaction as stored while the outbox still has it, as after a kill.
    mutating func resolve(_ transaction: TransactionID, as event: MessageID, in room: RoomID) {
        rooms[room, default: Room()].stored[transaction] = event
    }

    /// Removes the echoes of stored messages, matched by event ID or transaction ID.
    mutating func resolve(_ messages: [Message], in room: RoomID) -> [MessageID] {
        guard var state = rooms[room] else { return [] }
        var removed: [MessageID] = []
        for message in messages {
            let accepted = state.accepted.first { $0.value.event == message.id }?.key
            let transaction = accepted ?? message.transactionID
            guard let transaction else { continue }
            let index = state.echoes.firstIndex { $0.transaction == transaction }
            guard accepted != nil || index != nil else { continue }
            if let index { removed.append(state.echoes.remove(at: index).message.id) }
            state.accepted[transaction] = nil
            state.stored[transaction] = message.id
        }
        rooms[room] = state
        return removed
    }

    /// Returns a message as it is displayed before its echo exists.
    static func preview(of message: WrittenMessage, _ request: OutboxRequest, by ownUserID: MemberID) -> Message {
        makeMessage(message, request, isFailed: false, by: ownUserID, at: firstPosition)
    }

    mutating func forget(_ room: RoomID) { rooms[room] = nil }

    private static func makeMessage(
        _ message: WrittenMessage, _ request: OutboxRequest, text: String? = nil, isFailed: Bool,
        by ownUserID: MemberID,
        at position: Int64
    ) -> Message {
        Message(
            id: id(of: request.id), roomID: request.room, sender: ownUserID,
            text: text ?? MessageMarkup.plainText(of: message.text),
            sentAt: request.queuedAt, position: position, transactionID: request.id, replyTo: message.reply?.message,
            delivery: isFailed ? .failed : .sending, kind: message.kind,
            written: message.text.unlessBlank,
            attachments: message.files)
    }
}
