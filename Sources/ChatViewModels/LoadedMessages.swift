import ChatCore

/// The stretch of a room's messages that is loaded: from some position on to the newest, each message once.
nonisolated struct LoadedMessages: Sendable {
    /// In order of position.
    private(set) var messages: [Message] = []
    /// Where the stretch begins; nil if it reaches back to the room's first message.
    private(set) var start: Int64?
    private var positions: [MessageID: Int64] = [:]

    init() {}

    /// - Parameter page: the newest page of the room.
    init(newest page: TimelinePage) {
        start = page.hasOlder ? page.messages.first?.position ?? .max : nil
        merge(page.messages)
    }

    func position(of id: MessageID) -> Int64? { positions[id] }

    func message(_ id: MessageID) -> Message? { positions[id].map { messages[index(of: $0)] } }

    /// Each message at its position, newer knowledge replacing older. What is older than the stretch belongs to a
    /// page that is not loaded yet. Appending, the common case, costs one step.
    mutating func merge(_ changed: [Message]) {
        for message in changed {
            if let position = positions[message.id], position != message.position { remove([message.id]) }
            if let start, message.position < start { continue }
            place(message)
        }
    }

    mutating func remove(_ ids: [MessageID]) {
        let gone = Set(ids.filter { positions[$0] != nil })
        guard !gone.isEmpty else { return }
        messages.removeAll { gone.contains($0.id) }
        for id in gone { positions[id] = nil }
    }

    /// Adds the page that ends just before ``start``.
    mutating func prepend(_ page: TimelinePage) {
        guard let start else { return }
        let older = page.messages.filter { $0.position < start && positions[$0.id] == nil }
        messages.insert(contentsOf: older, at: 0)
        for message in older { positions[message.id] = message.position }
        self.start = page.hasOlder ? page.messages.first?.position ?? start : nil
    }

    private mutating func place(_ message: Message) {
        positions[message.id] = message.position
        if messages.last.map({ $0.position < message.position }) ?? true { return messages.append(message) }
        let index = index(of: message.position)
        if messages[index].position == message.position {
            if messages[index].id != message.id { positions[messages[index].id] = nil }
            messages[index] = message
        } else {
            messages.insert(message, at: index)
        }
    }

    /// The first message that is not before this position.
    private func index(of position: Int64) -> Int {
        var (low, high) = (0, messages.count)
        while low < high {
            let middle = (low + high) / 2
            if messages[middle].position < position { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
