import ChatCore

/// What is known of the messages that loaded ones answer.
nonisolated struct QuotedMessages: Sendable {
    private enum Known: Sendable {
        case message(Message)
        /// Not to be had.
        case gone
    }

    /// Tells this one from those before it, which others may have asked for.
    let epoch: Int
    /// Of those that are not loaded themselves.
    private var known: [MessageID: Known] = [:]
    private var asked: Set<MessageID> = []
    /// The loaded messages that answer each, by position.
    private var answers: [MessageID: Set<Int64>] = [:]

    init(epoch: Int = 0) { self.epoch = epoch }

    func quote(_ id: MessageID, in loaded: LoadedMessages, _ layout: TimelineLayout) -> MessageItem.Quote {
        let message: Message
        if let here = loaded.message(id) {
            message = here
        } else {
            switch known[id] {
            case .message(let elsewhere): message = elsewhere
            case .gone: return .gone
            case nil: return .loading(id)
            }
        }
        return message.isDeleted
            ? .gone : .text(id, senderName: layout.name(of: message.sender), text: layout.quotedText(message))
    }

    /// The positions of the loaded messages that answer one of these.
    func answers(to ids: [MessageID]) -> [Int64] {
        ids.flatMap { answers[$0] ?? [] }
    }

    /// Takes note of what messages answer.
    /// - Returns: what has to be asked for, once.
    mutating func note(_ messages: some Sequence<Message>, in loaded: LoadedMessages) -> [MessageID] {
        var wanted: [MessageID] = []
        for message in messages {
            guard let id = message.replyTo, !message.isDeleted else { continue }
            answers[id, default: []].insert(message.position)
            if loaded.message(id) == nil, known[id] == nil, asked.insert(id).inserted { wanted.append(id) }
        }
        return wanted
    }

    /// What was asked for, as far as it is there.
    mutating func take(_ messages: [Message], askedFor ids: [MessageID]) {
        // What was told meanwhile is newer.
        for message in messages where known[message.id] == nil { known[message.id] = .message(message) }
        for id in ids {
            asked.remove(id)
            if known[id] == nil { known[id] = .gone }
        }
    }

    /// Asking failed: the next one who needs it asks again.
    mutating func giveUp(_ ids: [MessageID]) { asked.subtract(ids) }

    /// Messages changed, whether they are loaded or not.
    mutating func update(_ messages: [Message]) {
        for message in messages where known[message.id] != nil || asked.contains(message.id) {
            known[message.id] = .message(message)
        }
    }

    /// Messages are gone, whether they were loaded or not.
    mutating func remove(_ ids: [MessageID]) {
        for id in ids where answers[id] != nil || asked.contains(id) { known[id] = .gone }
    }

    /// These messages are not loaded any more.
    mutating func release(_ messages: [Message]) {
        for message in messages {
            if let id = message.replyTo, answers[id]?.remove(message.position) != nil, answers[id]?.isEmpty == true {
                answers[id] = nil
                known[id] = nil
            }
        }
        for message in messages where answers[message.id] != nil { known[message.id] = .message(message) }
    }
}
