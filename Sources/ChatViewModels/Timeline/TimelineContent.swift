import ChatCore

/// The rows of the loaded messages, the messages that they reply to, and which rows of events are expanded.
///
/// Changes lay out only the rows that they affect.
nonisolated struct TimelineContent: Sendable {
    /// What a change requires of the caller.
    struct Update: Equatable, Sendable {
        var changes: [TimelineChange] = []
        /// Replied-to messages to fetch for ``store(_:requested:of:by:)``.
        var missingQuotes: [MessageID] = []
    }

    private(set) var rows = TimelineRows()
    private var quotes = QuotedMessages()
    /// Events whose groups are shown in full.
    private var expanded: Set<MessageID> = []

    /// Identifies the range that quotes were requested for; see ``QuotedMessages/epoch``.
    var epoch: Int { quotes.epoch }

    // MARK: Messages

    /// Lays out all rows of another range.
    /// - Returns: the replied-to messages to fetch.
    mutating func replace(with loaded: LoadedMessages, by layout: TimelineLayout) -> [MessageID] {
        quotes = QuotedMessages(epoch: quotes.epoch + 1)
        let missing = quotes.note(loaded.messages, in: loaded)
        rows = TimelineRows()
        _ = rows.layOutAll(loaded, by: expanding(layout), quotes: quotes)
        _ = rows.setEdges(older: loaded.start != nil, newer: loaded.end != nil)
        return missing
    }

    /// Lays out rows again after a page was added.
    mutating func add(
        _ messages: [Message], at positions: [Int64], of loaded: LoadedMessages, by layout: TimelineLayout
    ) -> Update {
        let missing = quotes.note(messages.filter { loaded.position(of: $0.id) != nil }, in: loaded)
        let replies = quotes.replies(to: messages.map(\.id))
        return Update(changes: layOut(at: positions + replies, of: loaded, by: layout), missingQuotes: missing)
    }

    /// Lays out rows again after messages arrived or changed.
    mutating func change(
        _ messages: [Message], at positions: [Int64], of loaded: LoadedMessages, by layout: TimelineLayout
    ) -> Update {
        quotes.update(messages)
        return add(messages, at: positions, of: loaded, by: layout)
    }

    /// - Parameter messages: those of the removed messages that were loaded.
    mutating func remove(
        _ ids: [MessageID], _ messages: [Message], at positions: [Int64], of loaded: LoadedMessages,
        by layout: TimelineLayout
    ) -> Update {
        quotes.release(messages)
        quotes.remove(ids)
        return Update(changes: layOut(at: positions + quotes.replies(to: ids), of: loaded, by: layout))
    }

    /// Lays out rows again after messages left memory.
    mutating func drop(_ messages: [Message], of loaded: LoadedMessages, by layout: TimelineLayout) -> Update {
        quotes.release(messages)
        return Update(changes: layOut(at: messages.map(\.position), of: loaded, by: layout))
    }

    /// Shows the replied-to messages that were fetched.
    /// - Parameter found: `nil` if the request failed; the next change requests them again.
    mutating func store(
        _ found: [Message]?, requested ids: [MessageID], of loaded: LoadedMessages, by layout: TimelineLayout
    ) -> Update {
        if let found { quotes.store(found, askedFor: ids) } else { quotes.abandon(ids) }
        return Update(changes: layOut(at: quotes.replies(to: ids), of: loaded, by: layout))
    }

    // MARK: Rows

    /// Lays out the rows of these messages again.
    mutating func layOut(
        _ ids: [MessageID], of loaded: LoadedMessages, by layout: TimelineLayout
    ) -> Update {
        Update(changes: layOut(at: ids.compactMap(loaded.position), of: loaded, by: layout))
    }

    /// Lays out all rows again.
    mutating func layOutAll(of loaded: LoadedMessages, by layout: TimelineLayout) -> Update {
        Update(changes: rows.layOutAll(loaded, by: expanding(layout), quotes: quotes))
    }

    /// Expands or collapses a row of events.
    mutating func toggleEvents(_ id: MessageID, of loaded: LoadedMessages, by layout: TimelineLayout) -> Update {
        guard let position = loaded.position(of: id) else { return Update() }
        let first = loaded.startOfRow(loaded.index(of: position))
        let row = loaded.messages[first..<loaded.endOfRow(first)].map(\.id)
        if expanded.isDisjoint(with: row) { expanded.insert(id) } else { expanded.subtract(row) }
        return Update(changes: layOut(at: [position], of: loaded, by: layout))
    }

    private mutating func layOut(
        at positions: [Int64], of loaded: LoadedMessages, by layout: TimelineLayout
    ) -> [TimelineChange] {
        let changes = rows.layOut(at: positions, of: loaded, by: expanding(layout), quotes: quotes)
        let edges = (older: loaded.start != nil, newer: loaded.end != nil)
        let displayedEdges = (rows.index(of: .more(.older)) != nil, rows.index(of: .more(.newer)) != nil)
        guard displayedEdges != edges else { return changes }
        return changes + rows.setEdges(older: edges.older, newer: edges.newer)
    }

    private func expanding(_ layout: TimelineLayout) -> TimelineLayout {
        var layout = layout
        layout.expanded = expanded
        return layout
    }

    // MARK: Destinations

    /// How to scroll to a destination, or `nil` if it is not loaded.
    func reveal(_ destination: TimelineDestination, in loaded: LoadedMessages) -> TimelineViewModel.Effect? {
        switch destination {
        case .message(let id): return loaded.position(of: id).flatMap(rows.row).map { .reveal($0) }
        case .firstUnread: return rows.index(of: .unreadLine) == nil ? nil : .reveal(.unreadLine)
        case .oldest: return loaded.start == nil ? .revealOldest : nil
        case .newest: return loaded.end == nil ? .revealNewest : nil
        case .date(let date):
            guard let oldest = loaded.messages.first, loaded.start == nil || oldest.sentAt < date else { return nil }
            guard let first = loaded.messages.first(where: { $0.sentAt >= date }) else {
                return loaded.end == nil ? .revealNewest : nil
            }
            // Include the day divider if it directly precedes the message.
            let day = TimelineItem.ID.day(CalendarDay(of: first.sentAt))
            guard let row = rows.row(at: first.position) else { return nil }
            return .reveal(rows.index(of: day).map { $0 + 1 } == rows.index(of: row) ? day : row)
        }
    }

    /// How to scroll to where the user stopped reading.
    func revealOpening(at position: ScrollPosition?, in loaded: LoadedMessages) -> TimelineViewModel.Effect {
        if let position, loaded.message(position.message) != nil { return .restore(position) }
        return rows.index(of: .unreadLine) == nil ? .revealNewest : .reveal(.unreadLine)
    }
}
