import ChatCore

/// The stretch of a room's messages that is loaded, without gaps, each message once.
///
/// What changes it answers the positions at which something is other than before, for ``TimelineRows``.
nonisolated struct LoadedMessages: Sendable {
    /// In order of position.
    private(set) var messages: [Message] = []
    /// Where the stretch begins; nil if it reaches back to the room's first message.
    private(set) var start: Int64?
    /// Where it ends; nil if it reaches the newest message, and grows with what comes.
    private(set) var end: Int64?
    private var positions: [MessageID: Int64] = [:]

    init() {}

    init(_ page: TimelinePage) {
        start = page.hasOlder ? page.messages.first?.position ?? .max : nil
        end = page.hasNewer ? page.messages.last?.position ?? .min : nil
        for message in page.messages { insertOrReplace(message) }
    }

    func position(of id: MessageID) -> Int64? { positions[id] }

    func message(_ id: MessageID) -> Message? { positions[id].map { messages[index(of: $0)] } }

    /// The first message that is not before this position.
    func index(of position: Int64) -> Int {
        messages.partitioningIndex { $0.position >= position }
    }

    /// The first of the messages that stand in one row with the one at this index.
    func startOfRow(_ index: Int) -> Int {
        guard messages.indices.contains(index) else { return index }
        var index = index
        while index > 0, EventGroup.joins(messages[index - 1], messages[index]) { index -= 1 }
        return index
    }

    /// The index behind the last of the messages that stand in one row with the one at this index.
    func endOfRow(_ index: Int) -> Int {
        var end = index + 1
        while end < messages.count, EventGroup.joins(messages[end - 1], messages[end]) { end += 1 }
        return end
    }

    /// Each message at its position, newer knowledge replacing older. What is outside the stretch belongs to a page
    /// that is not loaded. Appending, the common case, costs one step.
    mutating func merge(_ changed: [Message]) -> [Int64] {
        var touched: [Int64] = []
        for message in changed {
            if let position = positions[message.id], position != message.position { touched += remove([message.id]) }
            if let start, message.position < start { continue }
            if let end, message.position > end { continue }
            insertOrReplace(message)
            touched.append(message.position)
        }
        return touched
    }

    mutating func remove(_ ids: [MessageID]) -> [Int64] {
        ids.compactMap { id in
            guard let position = positions.removeValue(forKey: id) else { return nil }
            messages.remove(at: index(of: position))
            return position
        }
    }

    /// Adds the page that ends just before ``start``.
    mutating func prepend(_ page: TimelinePage) -> [Int64] {
        guard let start else { return [] }
        let older = page.messages.filter { $0.position < start && positions[$0.id] == nil }
        messages.insert(contentsOf: older, at: 0)
        for message in older { positions[message.id] = message.position }
        self.start = page.hasOlder ? page.messages.first?.position ?? start : nil
        return older.map(\.position)
    }

    /// Adds the page that begins just after ``end``.
    mutating func append(_ page: TimelinePage) -> [Int64] {
        guard let end else { return [] }
        let newer = page.messages.filter { $0.position > end && positions[$0.id] == nil }
        messages += newer
        for message in newer { positions[message.id] = message.position }
        self.end = page.hasNewer ? page.messages.last?.position ?? end : nil
        return newer.map(\.position)
    }

    /// Lets go of what is more than `reach` messages away from a position, once there is twice as much as that.
    /// - Returns: what it let go of.
    mutating func trim(around position: Int64, reach: Int) -> [Message] {
        guard messages.count > 2 * reach else { return [] }
        let index = index(of: position)
        let retained = max(0, index - reach)..<min(messages.count, index + reach)
        let dropped = messages[..<retained.lowerBound] + messages[retained.upperBound...]
        guard !dropped.isEmpty, !retained.isEmpty else { return [] }
        if retained.lowerBound > 0 { start = messages[retained.lowerBound].position }
        if retained.upperBound < messages.count { end = messages[retained.upperBound - 1].position }
        messages = Array(messages[retained])
        for message in dropped { positions[message.id] = nil }
        return Array(dropped)
    }

    private mutating func insertOrReplace(_ message: Message) {
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
}

nonisolated extension RandomAccessCollection {
    /// The first index from which on the predicate holds, in a collection in which it holds from some index on.
    func partitioningIndex(where belongs: (Element) -> Bool) -> Index {
        var (low, count) = (startIndex, count)
        while count > 0 {
            let half = count / 2
            let middle = index(low, offsetBy: half)
            if belongs(self[middle]) {
                count = half
            } else {
                low = index(after: middle)
                count -= half + 1
            }
        }
        return low
    }
}
