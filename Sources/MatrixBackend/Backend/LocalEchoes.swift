import ChatCore
import ChatOutbox
import ChatStore
import Composer
import Foundation
import MessageMarkup

/// Messages of one's own that the sync has not brought yet, as they are shown at the end of their rooms.
struct LocalEchoes {
    struct Change: Equatable {
        var changed: [Message] = []
        var removed: [MessageID] = []
    }

    private struct LocalEcho {
        var message: Message
        /// What its text was made of.
        var source: WrittenText
        /// What the server calls it, once it took it.
        var event: MessageID?
        /// The last sync that had begun by then; nil if it is not looked for.
        var sync: Int?

        func isMissing(after last: Int) -> Bool { sync.map { $0 < last } ?? false }
    }

    /// Behind each position of the store.
    private static let firstPosition: Int64 = 1 << 40
    private static let transactionPrefix = "~"

    /// What is shown of what can't be read.
    let unreadable: String

    private var rooms: [RoomID: [LocalEcho]] = [:]
    /// Those that the sync brought before the outbox was done with them.
    private var resolved: [RoomID: Set<TransactionID>] = [:]
    private var position = firstPosition

    init(unreadable: String) { self.unreadable = unreadable }

    func messages(in room: RoomID) -> [Message] { rooms[room]?.map(\.message) ?? [] }

    static func id(of transaction: TransactionID) -> MessageID { MessageID(transactionPrefix + transaction.rawValue) }

    /// The transaction of an identifier that was made here; nil of a message that the server has.
    static func transaction(of id: MessageID) -> TransactionID? {
        id.rawValue.hasPrefix(transactionPrefix)
            ? TransactionID(String(id.rawValue.dropFirst(transactionPrefix.count))) : nil
    }

    /// Brings a room in step with what is on its way there.
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
        // Neither on its way nor at the server: it was given up.
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

    /// The server took a message and calls it so. It stays as it is shown until the sync brings it, so that it is told
    /// as sent once, in its place.
    /// - Parameter sync: the last one that has begun.
    mutating func deliver(_ transaction: TransactionID, as event: MessageID, in room: RoomID, during sync: Int) {
        guard let index = rooms[room]?.firstIndex(where: { $0.message.transactionID == transaction }) else { return }
        rooms[room]?[index].event = event
        rooms[room]?[index].sync = sync
    }

    /// Where something is that the server took before a sync began, which is over and has not brought it.
    func roomsMissing(after sync: Int) -> [RoomID] {
        rooms.keys.filter { earliestMissing(in: $0, after: sync) != nil }
    }

    /// When the first of what is missing so in a room was queued.
    func earliestMissing(in room: RoomID, after sync: Int) -> Date? {
        rooms[room]?.filter { $0.isMissing(after: sync) }.map(\.message.sentAt).min()
    }

    /// It is not looked for until more is left out.
    mutating func abandonMissing(in room: RoomID, after sync: Int) {
        rooms[room] = rooms[room]?.map { echo in
            var echo = echo
            if echo.isMissing(after: sync) { echo.sync = nil }
            return echo
        }
    }

    /// More was left out in a room: what was given up may be there.
    mutating func restartSearch(in room: RoomID) {
        rooms[room] = rooms[room]?.map { echo in
            var echo = echo
            if echo.event != nil { echo.sync = echo.sync ?? 0 }
            return echo
        }
    }

    /// What the server calls an echo's message, if it has it.
    func event(of message: Message) -> MessageID? {
        rooms[message.roomID]?.first { $0.message.id == message.id }?.event
    }

    /// The echo of a message that the server has and the sync has not brought yet.
    func localEcho(of event: MessageID, in room: RoomID) -> Message? {
        rooms[room]?.first { $0.event == event }?.message
    }

    /// What was written here, in the form in which it was written: a server tells of it without.
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

    /// The server changed a message that the sync has not brought yet.
    /// - Returns: the echo as it is now; nil if there is none.
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

    /// What was told as sent before this start is in the store, and the outbox is not done with it.
    mutating func resolve(_ transaction: TransactionID, in room: RoomID) {
        resolved[room, default: []].insert(transaction)
    }

    /// Ends the echoes of messages that are in the store, by whichever of their two names.
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

    /// How a message will be shown that is about to be followed.
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
