import ChatCore
import Foundation

/// From what is loaded to rows, and what a view is told of them.
extension TimelineViewModel {
    var layout: TimelineLayout {
        TimelineLayout(
            members: names, ownID: ownID, unreadLineAfter: unreadLineAfter, editing: editing, now: now(),
            bodies: bodies, abilities: service.abilities, marked: marked, expanded: expanded, isSignedOut: isSignedOut)
    }

    /// - Parameter new: what may answer messages that are not known yet.
    func layOut(at touched: [Int64], asking new: [Message] = []) {
        let wanted = quotes.note(new.filter { loaded.position(of: $0.id) != nil }, in: loaded)
        tell(rows.layOut(at: touched, of: loaded, by: layout, quotes: quotes) + refreshEnds())
        askForQuoted(wanted)
    }

    /// Shows a row of events in full, or in short again.
    func toggleEvents(_ id: MessageID) {
        guard let position = loaded.position(of: id) else { return }
        let first = loaded.startOfRow(loaded.index(of: position))
        let row = loaded.messages[first..<loaded.endOfRow(first)].map(\.id)
        if expanded.isDisjoint(with: row) { expanded.insert(id) } else { expanded.subtract(row) }
        layOut(at: [position])
    }

    func layOutAll() {
        tell(rows.layOutAll(loaded, by: layout, quotes: quotes))
    }

    /// Shows another stretch of messages.
    func replace(with page: TimelinePage) {
        loaded = LoadedMessages(page)
        quotes = QuotedMessages(epoch: quotes.epoch + 1)
        let wanted = quotes.note(loaded.messages, in: loaded)
        var fresh = TimelineRows()
        _ = fresh.layOutAll(loaded, by: layout, quotes: quotes)
        rows = fresh
        _ = refreshEnds()
        onEffect?(.replaced)
        askForQuoted(wanted)
    }

    private func refreshEnds() -> [TimelineChange] {
        var next = state
        next.hasOlder = loaded.start != nil
        next.isDetached = loaded.end != nil
        next.isEmpty = next.isLoaded && loaded.messages.isEmpty && !next.hasOlder && !next.isDetached
        let edgesChanged = next.hasOlder != state.hasOlder || next.isDetached != state.isDetached
        if next != state { state = next }
        let shown = (rows.index(of: .more(.older)) != nil, rows.index(of: .more(.newer)) != nil)
        guard edgesChanged || shown != (next.hasOlder, next.isDetached) else { return [] }
        return rows.setEdges(older: next.hasOlder, newer: next.isDetached)
    }

    private func tell(_ changes: [TimelineChange]) {
        if !changes.isEmpty { onEffect?(.changed(changes)) }
    }

    func reveal(_ effect: Effect) {
        if let onEffect { onEffect(effect) } else { unseenReveal = effect }
    }

    private func askForQuoted(_ ids: [MessageID]) {
        guard !ids.isEmpty else { return }
        Task { [weak self, service, roomID, epoch = quotes.epoch] in
            let found = try? await service.messages(ids, in: roomID)
            guard let self, self.quotes.epoch == epoch else { return }
            if let found { self.quotes.take(found, askedFor: ids) } else { self.quotes.giveUp(ids) }
            self.layOut(at: self.quotes.answers(to: ids))
        }
    }
}
