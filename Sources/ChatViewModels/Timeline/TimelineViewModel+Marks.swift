public import ChatCore
public import Composer
import MessageMarkup

/// Selecting messages for bulk actions. The selection includes messages that have been dropped from memory.
extension TimelineViewModel {
    func toggleSelection(_ id: MessageID) {
        if selectedMessages.removeValue(forKey: id) == nil {
            guard let item = rows.message(id), item.canSelect else { return }
            selectedMessages[id] = item.isOwn
        }
        selectedMessagesChanged([id])
    }

    func clearSelection() {
        let ids = Array(selectedMessages.keys)
        selectedMessages = [:]
        selectedMessagesChanged(ids)
    }

    /// Deselects deleted and removed messages.
    func deselectRemoved(_ update: TimelineUpdate) {
        let removedIDs: [MessageID] =
            switch update {
            case .changed(let messages): messages.filter(\.isDeleted).map(\.id)
            case .removed(let ids): ids
            default: []
            }
        let unmarked = removedIDs.filter { selectedMessages.removeValue(forKey: $0) != nil }
        if !unmarked.isEmpty { selectedMessagesChanged(unmarked) }
    }

    func deleteSelected() {
        let ownMessages = selectedMessages.filter(\.value).map(\.key)
        guard !ownMessages.isEmpty else { return }
        clearSelection()
        perform { [roomID] service in
            for id in ownMessages { try await service.delete(id, in: roomID) }
        }
    }

    /// Returns the selected messages in timeline order, with their senders, for the clipboard.
    /// - Throws: ``ChatError``.
    public func copySelected() async throws -> ClipboardFragment {
        let found = try await service.messages(Array(selectedMessages.keys), in: roomID).sorted {
            $0.position < $1.position
        }
        await bodies.prepare(found)
        let layout = layout
        return ClipboardFragment(
            copying: found.filter { !$0.isDeleted }.map {
                layout.item($0, startsGroup: true, endsGroup: true, quote: nil)
            })
    }

    private func selectedMessagesChanged(_ ids: [MessageID]) {
        var next = state
        next.selectedCount = selectedMessages.count
        next.canDeleteSelected = !selectedMessages.isEmpty && selectedMessages.values.allSatisfy { $0 }
        if next != state { state = next }
        layOut(at: ids.compactMap(loaded.position(of:)))
    }
}
