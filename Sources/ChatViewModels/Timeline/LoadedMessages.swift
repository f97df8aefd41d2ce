import ChatCore

/// The contiguous range of a room's messages in memory, without duplicates.
///
/// Mutating methods return the positions that changed, for ``TimelineRows``.
nonisolated struct LoadedMessages: Sendable {
    /// Sorted by position.
    private(set) var messages: [Message] = []
    /// The lower bound of the range; `nil` if it includes the room's first message.
    private(set) var start: Int64?
    /// The upper bound of the range; `nil` if it includes the newest message, and then new messages extend it.
    private(set) var end: Int64?
    private var positions: [MessageID: Int64] = [:]
    /// The position up to which messages are hidden, as if the room began after it; `nil` to hide none.
    private let hiddenThrough: Int64?

    init() { hiddenThrough = nil }

    init(_ page: TimelinePage, hiddenThrough: Int64? = nil) {
        self.hiddenThrough = hiddenThrough
        start = hasShownOlder(page) ? page.messages.first?.position ?? .max : nil
        end = page.hasNewer ? page.messages.last?.position ?? .min : nil
        for message in page.messages where !isHidden(message) { insertOrReplace(message) }
    }

    private func isHidden(_ message: Message) -> Bool { hiddenThrough.map { message.position <= $0 } ?? false }

    /// Whether the range begins with the room's first message. That of a room that was cleared does not, although no
    /// older message can be shown.
    var includesOldest: Bool { start == nil && hiddenThrough == nil }

    /// Whether messages before a page can be shown.
    private func hasShownOlder(_ page: TimelinePage) -> Bool {
        page.hasOlder && !page.messages.contains(where: isHidden)
    }

    func position(of id: MessageID) -> Int64? { positions[id] }

    func message(_ id: MessageID) -> Message? { positions[id].map { messages[index(of: $0)] } }

    /// The index of the first message at or after this position.
    func index(of position: Int64) -> Int {
        messages.partitioningIndex { $0.position >= position }
    }

    /// The index of the first message that shares a row with the one at this index.
    func startOfRow(_ index: Int) -> Int {
        guard messages.indices.contains(index) else { return index }
        var index = index
        while index > 0, EventGroup.joins(messages[index - 1], messages[index]) { index -= 1 }
        return index
    }

    /// The index after the last message that shares a row with the one at this index.
    func endOfRow(_ index: Int) -> Int {
        var end = index + 1
        while end < messages.count, EventGroup.joins(messages[end - 1], messages[end]) { end += 1 }
        return end
    }

    /// Inserts messages or replaces older versions of them, ignoring those outside the range. Appending, the common
    /// case, takes constant time.
    mutating func merge(_ changed: [Message]) -> [Int64] {
        var touched: [Int64] = []
        for message in changed {
            if let position = positions[message.id], position != message.position { touched += remove([message.id]) }
            if let start, message.position < start { continue }
            if let end, message.position > end { continue }
            if isHidden(message) { continue }
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

    /// Prepends the page that ends right before ``start``.
    mutating func prepend(_ page: TimelinePage) -> [Int64] {
        guard let start else { return [] }
        let older = page.messages.filter { $0.position < start && positions[$0.id] == nil && !isHidden($0) }
        messages.insert(contentsOf: older, at: 0)
        for message in older { positions[message.id] = message.position }
        self.start = hasShownOlder(page) ? page.messages.first?.position ?? start : nil
        return older.map(\.position)
    }

    /// Appends the page that begins right after ``end``.
    mutating func append(_ page: TimelinePage) -> [Int64] {
        guard let end else { return [] }
        let newer = page.messages.filter { $0.position > end && positions[$0.id] == nil }
        messages += newer
        for message in newer { positions[message.id] = message.position }
        self.end = page.hasNewer ? page.messages.last?.position ?? end : nil
        return newer.map(\.position)
    }

    /// Drops messages more than `reach` away from a position, once more than twice that many are loaded.
    /// - Returns: the dropped messages.
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
    /// Binary search: the first index at which the predicate holds, provided it holds for all indices after that too.
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
