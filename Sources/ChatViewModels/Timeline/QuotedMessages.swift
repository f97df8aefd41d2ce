import ChatCore

/// The known messages among those that loaded messages reply to.
nonisolated struct QuotedMessages: Sendable {
    private enum Entry: Sendable {
        case message(Message)
        /// Could not be found.
        case unavailable
    }

    /// Identifies this instance, so that responses to requests of an earlier one are dropped.
    let epoch: Int
    /// Replied-to messages that are not loaded in the timeline.
    private var entries: [MessageID: Entry] = [:]
    private var requested: Set<MessageID> = []
    /// The positions of the loaded replies to each message.
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
        guard message.hasContent else { return .unavailable }
        return .text(
            id, senderName: layout.name(of: message.sender), text: layout.quotedText(message), trust: message.trust)
    }

    /// The positions of loaded replies to any of these messages.
    func replies(to ids: [MessageID]) -> [Int64] {
        ids.flatMap { replies[$0] ?? [] }
    }

    /// The positions of loaded replies to those of the messages stored here that satisfy a condition.
    func replies(toStored isIncluded: (Message) -> Bool) -> [Int64] {
        var ids: [MessageID] = []
        for (id, entry) in entries {
            if case .message(let message) = entry, isIncluded(message) { ids.append(id) }
        }
        return replies(to: ids)
    }

    /// Registers the replies among these messages.
    /// - Returns: the replied-to messages to fetch, each of them once.
    mutating func note(_ messages: some Sequence<Message>, in loaded: LoadedMessages) -> [MessageID] {
        var missingIDs: [MessageID] = []
        for message in messages {
            guard let id = message.replyTo, !message.isDeleted else { continue }
            replies[id, default: []].insert(message.position)
            if loaded.message(id) == nil, entries[id] == nil, requested.insert(id).inserted { missingIDs.append(id) }
        }
        return missingIDs
    }

    /// Stores the fetched messages and marks those not found as unavailable.
    mutating func store(_ messages: [Message], askedFor ids: [MessageID]) {
        // Updates received while the request was in flight are newer.
        for message in messages where entries[message.id] == nil { entries[message.id] = .message(message) }
        for id in ids {
            requested.remove(id)
            if entries[id] == nil { entries[id] = .unavailable }
        }
    }

    /// Allows these messages to be requested again after a failure.
    mutating func abandon(_ ids: [MessageID]) { requested.subtract(ids) }

    /// - Returns: the abandoned messages, to fetch each of them once more.
    mutating func retry(in loaded: LoadedMessages) -> [MessageID] {
        let abandoned = replies.keys.filter {
            entries[$0] == nil && !requested.contains($0) && loaded.message($0) == nil
        }
        requested.formUnion(abandoned)
        return abandoned
    }

    /// Updates the stored copies of changed messages, loaded or not.
    mutating func update(_ messages: [Message]) {
        for message in messages where entries[message.id] != nil || requested.contains(message.id) {
            entries[message.id] = .message(message)
        }
    }

    /// Marks removed messages as unavailable, loaded or not.
    mutating func remove(_ ids: [MessageID]) {
        for id in ids where replies[id] != nil || requested.contains(id) { entries[id] = .unavailable }
    }

    /// Drops the replies among messages leaving memory, and retains those that loaded messages reply to.
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
