public import ChatCore

/// The rows of the loaded messages. A change lays out only the affected rows again.
public nonisolated struct TimelineRows: RandomAccessCollection, Sendable {
    struct Row: Sendable {
        var item: TimelineItem
        /// The message's position; for dividers, that of the message below. Placeholders use the extreme values.
        var position: Int64
        /// The position of the last message in a row of several.
        var last: Int64?
        /// The layout context after this row.
        var after = TimelineLayout.Context()

        /// Orders rows at the same position.
        var rank: Int {
            switch item {
            case .day: 0
            case .unreadLine: 1
            case .message, .events, .more: 2
            }
        }

        /// The position of the row's last message.
        var end: Int64 { last ?? position }
    }

    private var rows: [Row] = []
    /// The position of each row.
    private var positions: [TimelineItem.ID: Int64] = [:]
    /// The number of rows laid out so far.
    private(set) var laidOutCount = 0

    init() {}

    public var startIndex: Int { 0 }
    public var endIndex: Int { rows.count }
    public subscript(index: Int) -> TimelineItem { rows[index].item }

    /// The index of a row, or `nil` if there is none; takes logarithmic time.
    public func index(of id: TimelineItem.ID) -> Int? {
        guard let position = positions[id] else { return nil }
        let first = rows.partitioningIndex { $0.position >= position }
        return rows[first...].prefix { $0.position == position }.firstIndex { $0.item.id == id }
    }

    public func message(_ id: MessageID) -> MessageItem? {
        index(of: .message(id)).flatMap { rows[$0].item.message }
    }

    /// The row that displays the message at a position, or `nil` if none does.
    func row(at position: Int64) -> TimelineItem.ID? {
        let next = rows.partitioningIndex { $0.position > position }
        guard next > 0, rows[next - 1].end >= position else { return nil }
        return rows[next - 1].item.id
    }

    /// Shows or hides the placeholders at both ends.
    mutating func setEdges(older: Bool, newer: Bool) -> [TimelineChange] {
        replace(.min, .min, with: older ? [Row(item: .more(.older), position: .min)] : [])
            + replace(.max, .max, with: newer ? [Row(item: .more(.newer), position: .max)] : [])
    }

    /// Rebuilds all rows.
    mutating func layOutAll(
        _ loaded: LoadedMessages, by layout: TimelineLayout, quotes: QuotedMessages
    ) -> [TimelineChange] {
        let walk = Walk(loaded: loaded, layout: layout, quotes: quotes)
        let new = walk.rows(from: 0, in: .init()) { _, _ in false }.rows
        laidOutCount += new.count
        return replace(.min + 1, .max - 1, with: new)
    }

    /// Rebuilds the rows of the messages at these positions, and the neighboring ones affected by them.
    mutating func layOut(
        at touched: [Int64], of loaded: LoadedMessages, by layout: TimelineLayout, quotes: QuotedMessages
    ) -> [TimelineChange] {
        guard !touched.isEmpty else { return [] }
        let dirty = Set(touched)
        let walk = Walk(loaded: loaded, layout: layout, quotes: quotes)
        var done = Int64.min
        var changes: [TimelineChange] = []
        for position in dirty.sorted() where position > done {
            // Whether the previous message ends its group depends on this one.
            let first = loaded.startOfRow(Swift.max(0, loaded.index(of: position) - 1))
            let context = first == 0 ? .init() : context(after: loaded.messages[first - 1].position)
            let (new, last) = walk.rows(from: first, in: context) { messages, after in
                guard let end = messages.last?.position, end > position else { return false }
                return !messages.contains { dirty.contains($0.position) } && self.context(after: end) == after
            }
            laidOutCount += new.count
            let low = first == 0 ? .min + 1 : loaded.messages[first].position
            done = last ?? .max - 1
            changes += replace(low, done, with: new)
        }
        return changes
    }

    private func context(after position: Int64) -> TimelineLayout.Context? {
        let next = rows.partitioningIndex { $0.position > position }
        guard next > 0, rows[next - 1].end == position else { return nil }
        return rows[next - 1].after
    }

    /// Replaces the rows between two positions, both included.
    private mutating func replace(_ low: Int64, _ high: Int64, with new: [Row]) -> [TimelineChange] {
        let start = rows.partitioningIndex { $0.position >= low }
        let end = rows[start...].partitioningIndex { $0.position > high }
        var script = ChangeScript(at: start)
        var (old, next) = (start, 0)
        while old < end || next < new.count {
            let order = next == new.count ? -1 : old == end ? 1 : Self.order(rows[old], new[next])
            if order < 0 { script.remove() }
            if order > 0 { script.insert() }
            if order == 0 { script.reconcile(new[next].item, over: rows[old].item) }
            if order <= 0 { old += 1 }
            if order >= 0 { next += 1 }
        }
        for row in rows[start..<end] where positions[row.item.id] == row.position { positions[row.item.id] = nil }
        rows.replaceSubrange(start..<end, with: new)
        for row in new { positions[row.item.id] = row.position }
        return script.changes
    }

    private static func order(_ a: Row, _ b: Row) -> Int {
        (a.position, a.rank) < (b.position, b.rank) ? -1 : (a.position, a.rank) == (b.position, b.rank) ? 0 : 1
    }
}

/// Builds rows from consecutive messages.
private nonisolated struct Walk {
    let loaded: LoadedMessages
    let layout: TimelineLayout
    let quotes: QuotedMessages

    /// - Parameter isUnchanged: returns whether layout can stop after these messages, given the context that they
    ///   leave.
    /// - Returns: the rows, and the position of the last message laid out, or `nil` if that is the last one loaded.
    func rows(
        from first: Int, in context: TimelineLayout.Context?,
        until isUnchanged: (ArraySlice<Message>, TimelineLayout.Context) -> Bool
    ) -> (rows: [TimelineRows.Row], last: Int64?) {
        let messages = loaded.messages
        guard first < messages.count else { return ([], nil) }
        var rows: [TimelineRows.Row] = []
        var start = first
        var step = layout.step(
            from: first > 0 ? messages[first - 1] : nil, to: messages[first], in: context ?? .init())
        while true {
            let end = loaded.endOfRow(start)
            let message = messages[start]
            let together = messages[start..<end]
            // Within a group of events, the unread line may become due after any of them.
            for (before, event) in zip(together, together.dropFirst()) {
                step.after = layout.step(from: before, to: event, in: step.after).after
            }
            let next =
                end < messages.count
                ? layout.step(from: messages[end - 1], to: messages[end], in: step.after) : nil
            if step.startsDay {
                let day = TimelineItem.day(step.day, message.sentAt, RelativeDay(message.sentAt, now: layout.now))
                rows.append(.init(item: day, position: message.position))
            }
            if step.drawsUnreadLine { rows.append(.init(item: .unreadLine, position: message.position)) }
            rows.append(row(together, step, endsGroup: next?.startsGroup ?? true))
            guard let next else { return (rows, nil) }
            if isUnchanged(together, step.after) { return (rows, messages[end - 1].position) }
            (start, step) = (end, next)
        }
    }

    private func row(_ together: ArraySlice<Message>, _ step: TimelineLayout.Step, endsGroup: Bool) -> TimelineRows.Row
    {
        let message = together[together.startIndex]
        let item: TimelineItem
        if message.event != nil {
            item = .events(layout.events(together))
        } else {
            item = .message(
                layout.item(
                    message, startsGroup: step.startsGroup, endsGroup: endsGroup,
                    quote: message.replyTo.map { quotes.quote($0, in: loaded, layout) }))
        }
        return .init(item: item, position: message.position, last: together.last?.position, after: step.after)
    }
}

/// Collects changes, merging adjacent ones.
private nonisolated struct ChangeScript {
    private(set) var changes: [TimelineChange] = []
    private var index: Int

    init(at index: Int) { self.index = index }

    mutating func remove() {
        if case .remove(let range)? = changes.last, range.lowerBound == index {
            changes[changes.count - 1] = .remove(range.lowerBound..<range.upperBound + 1)
        } else {
            changes.append(.remove(index..<index + 1))
        }
    }

    mutating func insert() {
        if case .insert(let range)? = changes.last, range.upperBound == index {
            changes[changes.count - 1] = .insert(range.lowerBound..<index + 1)
        } else {
            changes.append(.insert(index..<index + 1))
        }
        index += 1
    }

    /// Updates the row if its identity is the same, otherwise replaces it.
    mutating func reconcile(_ item: TimelineItem, over old: TimelineItem) {
        if item.id != old.id {
            remove()
            return insert()
        }
        if item != old {
            if case .update(let range)? = changes.last, range.upperBound == index {
                changes[changes.count - 1] = .update(range.lowerBound..<index + 1)
            } else {
                changes.append(.update(index..<index + 1))
            }
        }
        index += 1
    }
}
