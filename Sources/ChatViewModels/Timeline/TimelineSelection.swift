import ChatCore
import Composer
import Observation

/// The selected messages and the selected text of a timeline, and what actions on them mean.
@Observable
final class TimelineSelection {
    /// What an action requires of the timeline.
    nonisolated enum Outcome: Equatable, Sendable {
        /// These messages were selected or deselected.
        case messagesChanged([MessageID])
        case textChanged
        case copy(ClipboardFragment)
        /// Copies the messages, and deselects them once they are copied.
        case copyMessages([MessageID])
        case forward([MessageID])
        case confirmDeletion(count: Int)
        case delete([MessageID])
        /// A press toggles a message.
        case toggle(MessageID)
        /// A press edits a message.
        case edit(MessageID)
    }

    private(set) var messages = SelectedMessages()
    @ObservationIgnored private var text = TextSelection()

    /// The selected text.
    var textRange: MessageSelection? { text.range }
    /// Whether something can be copied.
    var hasContent: Bool { !messages.isEmpty || !text.isEmpty }
    /// Whether ``TimelineViewModel/SelectionAction/cancel`` has an effect.
    var canCancel: Bool { !messages.isEmpty || text.range != nil }

    /// The selected part of a message's ``MessageItem/selectableText``, in UTF-8 code units, or `nil` if none is
    /// selected.
    func range(in item: MessageItem, of loaded: LoadedMessages) -> Range<Int>? { text.range(in: item, of: loaded) }

    /// The selected text of the loaded messages with their senders, or `nil` if no text is selected.
    func fragment(of loaded: LoadedMessages, _ rows: TimelineRows) -> ClipboardFragment? {
        text.fragment(of: loaded, rows)
    }

    /// Remembers where the ends of the selected text are while their messages are loaded.
    func notePositions(in loaded: LoadedMessages) { text.notePositions(in: loaded) }

    /// Deselects deleted and removed messages.
    func removeDeleted(by update: TimelineUpdate) -> [Outcome] {
        guard !messages.isEmpty else { return [] }
        let deselected = messages.removeDeleted(by: update)
        return deselected.isEmpty ? [] : [.messagesChanged(deselected)]
    }

    /// Deselects messages that have been copied, and none that were selected meanwhile.
    func deselect(_ ids: [MessageID]) -> [Outcome] {
        let deselected = messages.remove(ids)
        return deselected.isEmpty ? [] : [.messagesChanged(deselected)]
    }

    func perform(
        _ action: TimelineViewModel.SelectionAction, in loaded: LoadedMessages, _ rows: TimelineRows
    ) -> [Outcome] {
        switch action {
        case .toggle(let id): messages.toggle(id, rows.message(id)) ? [.messagesChanged([id])] : []
        case .clear: deselectMessages()
        case .cancel: messages.isEmpty ? select(nil, in: loaded) : deselectMessages()
        case .copy(let focused): copy(orElse: focused.flatMap(rows.message), in: loaded, rows)
        case .forward: [.forward(messages.ids)] + deselectMessages()
        case .requestDeletion: messages.canDelete ? [.confirmDeletion(count: messages.count)] : []
        case .delete: delete()
        case .select(let selection): select(selection, in: loaded)
        case .selectAll: MessageSelection.all(of: loaded, rows).map { select($0, in: loaded) } ?? []
        case .extend(let step, let forward, let id):
            text.extended(by: step, forward: forward, from: id, in: loaded, rows).map { select($0, in: loaded) } ?? []
        case .press(let press): perform(press, in: loaded, rows)
        }
    }

    private func perform(_ press: TextPress, in loaded: LoadedMessages, _ rows: TimelineRows) -> [Outcome] {
        guard let item = rows.message(press.point.message) else { return [] }
        switch press.meaning(on: item, selection: text.range, isSelecting: !messages.isEmpty) {
        case .toggle: return [.toggle(item.id)]
        case .select(let selection): return select(selection, in: loaded)
        case .edit: return select(nil, in: loaded) + [.edit(item.id)]
        case nil: return []
        }
    }

    private func select(_ selection: MessageSelection?, in loaded: LoadedMessages) -> [Outcome] {
        text.select(selection, in: loaded) ? [.textChanged] : []
    }

    private func deselectMessages() -> [Outcome] { [.messagesChanged(messages.clear())] }

    private func delete() -> [Outcome] {
        let ids = messages.ownIDs
        return ids.isEmpty ? [] : deselectMessages() + [.delete(ids)]
    }

    private func copy(orElse focused: MessageItem?, in loaded: LoadedMessages, _ rows: TimelineRows) -> [Outcome] {
        if !messages.isEmpty { return [.copyMessages(messages.ids)] }
        if let selection = fragment(of: loaded, rows) { return [.copy(selection)] }
        guard let focused, focused.canCopy else { return [] }
        return [.copy(ClipboardFragment(copying: focused))]
    }
}
