import ChatCore
import Foundation

/// Lays out the loaded messages as rows and reports the changes.
extension TimelineViewModel {
    var layout: TimelineLayout {
        TimelineLayout(
            members: names, ownUserID: ownUserID, unreadLineAfter: unreadLineAfter, editing: editing, now: now(),
            bodies: bodies, capabilities: service.capabilities, selectedMessages: selectedMessages, expanded: expanded,
            isSignedOut: isSignedOut)
    }

    /// - Parameter new: messages that may reply to unknown ones, which are then fetched.
    func layOut(at touched: [Int64], asking new: [Message] = []) {
        let missingQuotes = quotes.note(new.filter { loaded.position(of: $0.id) != nil }, in: loaded)
        publish(rows.layOut(at: touched, of: loaded, by: layout, quotes: quotes) + refreshEnds())
        loadQuotedMessages(missingQuotes)
    }

    /// Expands or collapses a row of events.
    func toggleEvents(_ id: MessageID) {
        guard let position = loaded.position(of: id) else { return }
        let first = loaded.startOfRow(loaded.index(of: position))
        let row = loaded.messages[first..<loaded.endOfRow(first)].map(\.id)
        if expanded.isDisjoint(with: row) { expanded.insert(id) } else { expanded.subtract(row) }
        layOut(at: [position])
    }

    func layOutAll() {
        publish(rows.layOutAll(loaded, by: layout, quotes: quotes))
    }

    /// Replaces the loaded range.
    func replace(with page: TimelinePage) {
        loaded = LoadedMessages(page)
        quotes = QuotedMessages(epoch: quotes.epoch + 1)
        let missingQuotes = quotes.note(loaded.messages, in: loaded)
        var newRows = TimelineRows()
        _ = newRows.layOutAll(loaded, by: layout, quotes: quotes)
        rows = newRows
        _ = refreshEnds()
        onEffect?(.replaced)
        loadQuotedMessages(missingQuotes)
    }

    private func refreshEnds() -> [TimelineChange] {
        var next = state
        next.hasOlder = loaded.start != nil
        next.isDetached = loaded.end != nil
        next.isEmpty = next.isLoaded && loaded.messages.isEmpty && !next.hasOlder && !next.isDetached
        let edgesChanged = next.hasOlder != state.hasOlder || next.isDetached != state.isDetached
        if next != state { state = next }
        let displayedEdges = (rows.index(of: .more(.older)) != nil, rows.index(of: .more(.newer)) != nil)
        guard edgesChanged || displayedEdges != (next.hasOlder, next.isDetached) else { return [] }
        return rows.setEdges(older: next.hasOlder, newer: next.isDetached)
    }

    private func publish(_ changes: [TimelineChange]) {
        if !changes.isEmpty { onEffect?(.changed(changes)) }
    }

    func reveal(_ effect: Effect) {
        if let onEffect { onEffect(effect) } else { unseenReveal = effect }
    }

    private func loadQuotedMessages(_ ids: [MessageID]) {
        guard !ids.isEmpty else { return }
        Task { [weak self, service, roomID, epoch = quotes.epoch] in
            let found = try? await service.messages(ids, in: roomID)
            guard let self, self.quotes.epoch == epoch else { return }
            if let found { self.quotes.store(found, askedFor: ids) } else { self.quotes.abandon(ids) }
            self.layOut(at: self.quotes.replies(to: ids))
        }
    }
}
