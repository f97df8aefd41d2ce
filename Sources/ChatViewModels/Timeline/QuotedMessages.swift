import ChatCore

/// What is known of the messages that loaded ones answer.
nonisolated struct QuotedMessages: Sendable {
    private enum Entry: Sendable {
        case message(Message)
        /// Not to be had.
        case unavailable
    }

    /// Tells this one from those before it, which others may have asked for.
    let epoch: Int
    /// Of those that are not loaded themselves.
    private var entries: [MessageID: Entry] = [:]
    private var requested: Set<MessageID> = []
    /// The loaded messages that answer each, by position.
    private var replies: [MessageID: Set<Int64>] = [:]

    init(epoch: Int = 0) { self.epoch = epoch }

    func quote(_ id: MessageID, in loaded: LoadedMessages, _ layout: TimelineLayout) -> MessageItem.Quote {
        let message: Message
        if let here = loaded.message(id) {
            message = here
        } else {
            switch entries[id] {
            case .message(let elsewhere): message = elsewhere
            case .unavailable: return .unavailable
            case nil: return .loading(id)
            }
        }
        return message.isDeleted
            ? .unavailable : .text(id, senderName: layout.name(of: message.sender), text: layout.quotedText(message))
    }

    /// The positions of the loaded messages that answer one of these.
    func replies(to ids: [MessageID]) -> [Int64] {
        ids.flatMap { replies[$0] ?? [] }
    }

    /// Takes note of what messages answer.
    /// - Returns: what has to be asked for, once.
    mutating func note(_ messages: some Sequence<Message>, in loaded: LoadedMessages) -> [MessageID] {
        var missingIDs: [MessageID] = []
        for message in messages {
            guard let id = message.replyTo, !message.isDeleted else { continue }
            replies[id, default: []].insert(message.position)
            if loaded.message(id) == nil, entries[id] == nil, requested.insert(id).inserted { missingIDs.append(id) }
        }
        return missingIDs
    }

    /// What was asked for, as far as it is there.
    mutating func store(_ messages: [Message], askedFor ids: [MessageID]) {
        // What was told meanwhile is newer.
        for message in messages where entries[message.id] == nil { entries[message.id] = .message(message) }
        for id in ids {
            requested.remove(id)
            if entries[id] == nil { entries[id] = .unavailable }
        }
    }

    /// Asking failed: the next one who needs it asks again.
    mutating func abandon(_ ids: [MessageID]) { requested.subtract(ids) }

    /// Messages changed, whether they are loaded or not.
    mutating func update(_ messages: [Message]) {
        for message in messages where entries[message.id] != nil || requested.contains(message.id) {
            entries[message.id] = .message(message)
        }
    }

    /// Messages are gone, whether they were loaded or not.
    mutating func remove(_ ids: [MessageID]) {
        for id in ids where replies[id] != nil || requested.contains(id) { entries[id] = .unavailable }
    }

    /// These messages are not loaded any more.
    mutating func release(_ messages: [Message]) {
        for message in messages {
            if let id = message.replyTo, replies[id]?.remove(message.position) != nil, replies[id]?.isEmpty == true {
                replies[id] = nil
                entries[id] = nil
            }
        }
        for message in messages where replies[message.id] != nil { entries[message.id] = .message(message) }
    }
}
