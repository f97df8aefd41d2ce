import ChatCore
import ChatOutbox
import ChatStore
import Composer
import Foundation
import MessageMarkup

/// Sent messages that the sync has not returned yet, displayed at the end of their rooms.
struct LocalEchoes {
    struct Change: Equatable {
        var changed: [Message] = []
        var removed: [MessageID] = []
    }

    private struct LocalEcho {
        var message: Message
        /// The source from which the message's text was made.
        var source: WrittenText
        /// The event ID, once the server has accepted the message.
        var event: MessageID?
        /// The number of the last sync that had begun when the server accepted the message; `nil` if the event is not
        /// searched for.
        var sync: Int?

        func isMissing(after last: Int) -> Bool { sync.map { $0 < last } ?? false }
    }

    /// Greater than every position in the store.
    private static let firstPosition: Int64 = 1 << 40
    private static let transactionPrefix = "~"

    /// Displayed instead of a queued message that cannot be decoded.
    let unreadable: String

    private var rooms: [RoomID: [LocalEcho]] = [:]
    /// Transactions whose event arrived by sync before the outbox removed them.
    private var resolved: [RoomID: Set<TransactionID>] = [:]
    private var position = firstPosition

    init(unreadable: String) { self.unreadable = unreadable }

    func messages(in room: RoomID) -> [Message] { rooms[room]?.map(\.message) ?? [] }

    static func id(of transaction: TransactionID) -> MessageID { MessageID(transactionPrefix + transaction.rawValue) }

    /// Returns the transaction of a local echo's ID, or `nil` for an event ID.
    static func transaction(of id: MessageID) -> TransactionID? {
        id.rawValue.hasPrefix(transactionPrefix)
            ? TransactionID(String(id.rawValue.dropFirst(transactionPrefix.count))) : nil
    }

    /// Reconciles a room's echoes with its outbox items.
    mutating func update(_ items: [OutboxItem], in room: RoomID, by ownUserID: MemberID) -> Change {
        var change = Change()
        var echoes = rooms[room] ?? []
        var waiting: Set<TransactionID> = []
        for item in items {
            guard let message = message(of: item.request) else { continue }
            waiting.insert(item.request.id)
            guard resolved[room]?.contains(item.request.id) != true else { continue }
            let echoIndex = echoes.firstIndex { $0.message.transactionID == item.request.id }
            if let echoIndex, echoes[echoIndex].event != nil { continue }
            var position = echoIndex.map { echoes[$0].message.position }
            if position == nil {
                self.position += 1
                position = self.position
            }
            let text = echoIndex.flatMap { echoes[$0].source == message.text ? echoes[$0].message.text : nil }
            var echoMessage = Self.makeMessage(
                message, item.request, text: text, isFailed: item.isFailed, by: ownUserID,
                at: position ?? Self.firstPosition)
            echoMessage.upload = item.isFailed ? nil : item.upload
            if let echoIndex {
                if echoes[echoIndex].message == echoMessage { continue }
                echoes[echoIndex].message = echoMessage
                echoes[echoIndex].source = message.text
            } else {
                echoes.append(LocalEcho(message: echoMessage, source: message.text))
            }
            change.changed.append(echoMessage)
        }
        // Neither queued nor accepted by the server: the user discarded it.
        for echo in echoes where echo.event == nil {
            guard let transaction = echo.message.transactionID, !waiting.contains(transaction) else { continue }
            change.removed.append(echo.message.id)
        }
        echoes.removeAll { change.removed.contains($0.message.id) }
        rooms[room] = echoes.isEmpty ? nil : echoes
        resolved[room]?.formIntersection(waiting)
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
    mutating func deliver(_ transaction: TransactionID, as event: MessageID, in room: RoomID, during sync: Int) {
        guard let index = rooms[room]?.firstIndex(where: { $0.message.transactionID == transaction }) else { return }
        rooms[room]?[index].event = event
        rooms[room]?[index].sync = sync
    }

    /// Returns the rooms with accepted messages that a sync begun after their acceptance did not return.
    func roomsMissing(after sync: Int) -> [RoomID] {
        rooms.keys.filter { earliestMissing(in: $0, after: sync) != nil }
    }

    /// Returns when the earliest of these messages was queued.
    func earliestMissing(in room: RoomID, after sync: Int) -> Date? {
        rooms[room]?.filter { $0.isMissing(after: sync) }.map(\.message.sentAt).min()
    }

    /// Stops searching for these messages until the room gets another gap.
    mutating func abandonMissing(in room: RoomID, after sync: Int) {
        rooms[room] = rooms[room]?.map { echo in
            var echo = echo
            if echo.isMissing(after: sync) { echo.sync = nil }
            return echo
        }
    }

    /// Resumes the search for abandoned messages, which may be in a new gap.
    mutating func restartSearch(in room: RoomID) {
        rooms[room] = rooms[room]?.map { echo in
            var echo = echo
            if echo.event != nil { echo.sync = echo.sync ?? 0 }
            return echo
        }
    }

    /// Returns the event ID of an echo's message, or `nil` if the server has not accepted it.
    func event(of message: Message) -> MessageID? {
        rooms[message.roomID]?.first { $0.message.id == message.id }?.event
    }

    /// Returns the echo of an event that the sync has not returned yet.
    func localEcho(of event: MessageID, in room: RoomID) -> Message? {
        rooms[room]?.first { $0.event == event }?.message
    }

    /// Adds the written source to own messages; the server returns only the rendered forms.
    func authored(_ events: [TimelineEvent], in room: RoomID) -> [TimelineEvent] {
        guard let echoes = rooms[room] else { return events }
        return events.map { event in
            guard case .message(var new) = event, let transaction = new.transactionID,
                let echo = echoes.first(where: { $0.message.transactionID == transaction })
            else { return event }
            new.written = echo.message.written
            return .message(new)
        }
    }

    /// Applies a change that the server accepted to a message that the sync has not returned yet.
    /// - Returns: The changed echo, or `nil` if there is none.
    mutating func apply(_ change: MessageChange, in room: RoomID) -> Message? {
        guard let index = rooms[room]?.firstIndex(where: { $0.event == change.target }), var echo = rooms[room]?[index]
        else { return nil }
        switch change.kind {
        case .edit(let wording): echo.message.edit(to: wording, at: change.at)
        case .deletion: echo.message.delete()
        case .reaction(let text): echo.message.setReaction(text, isAdded: true, by: change.sender)
        }
        rooms[room]?[index] = echo
        return echo.message
    }

    /// Marks a transaction as stored while the outbox still has it, as after a kill.
    mutating func resolve(_ transaction: TransactionID, in room: RoomID) {
        resolved[room, default: []].insert(transaction)
    }

    /// Removes the echoes of stored messages, matched by event ID or transaction ID.
    mutating func resolve(_ messages: [Message], in room: RoomID) -> [MessageID] {
        var removed: [MessageID] = []
        for message in messages {
            let index = rooms[room]?.firstIndex { echo in
                echo.event == message.id
                    || (message.transactionID != nil && echo.message.transactionID == message.transactionID)
            }
            guard let index, let echo = rooms[room]?.remove(at: index) else { continue }
            if let transaction = echo.message.transactionID { resolved[room, default: []].insert(transaction) }
            removed.append(echo.message.id)
        }
        if rooms[room]?.isEmpty == true { rooms[room] = nil }
        return removed
    }

    /// Returns a message as it is displayed before its echo exists.
    static func preview(of message: WrittenMessage, _ request: OutboxRequest, by ownUserID: MemberID) -> Message {
        makeMessage(message, request, isFailed: false, by: ownUserID, at: firstPosition)
    }

    mutating func forget(_ room: RoomID) {
        rooms[room] = nil
        resolved[room] = nil
    }

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
