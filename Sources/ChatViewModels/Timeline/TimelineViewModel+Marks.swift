public import ChatCore
public import Composer
import MessageMarkup

/// Messages that are marked so that something is done with all of them. Marks outlive the rows: what was let go of
/// stays marked.
extension TimelineViewModel {
    func mark(_ id: MessageID) {
        if marked.removeValue(forKey: id) == nil {
            guard let item = rows.message(id), item.canMark else { return }
            marked[id] = item.isOwn
        }
        marksChanged([id])
    }

    func clearMarks() {
        let ids = Array(marked.keys)
        marked = [:]
        marksChanged(ids)
    }

    /// What was deleted or is gone is marked no more.
    func unmarkGone(_ update: TimelineUpdate) {
        let gone: [MessageID] =
            switch update {
            case .changed(let messages): messages.filter(\.isDeleted).map(\.id)
            case .removed(let ids): ids
            default: []
            }
        let unmarked = gone.filter { marked.removeValue(forKey: $0) != nil }
        if !unmarked.isEmpty { marksChanged(unmarked) }
    }

    func deleteMarked() {
        let own = marked.filter(\.value).map(\.key)
        guard !own.isEmpty else { return }
        clearMarks()
        perform { [roomID] service in
            for id in own { try await service.delete(id, in: roomID) }
        }
    }

    /// The marked messages in their order, with their senders, as they are copied.
    /// - Throws: ``ChatError``.
    public func copyMarked() async throws -> ClipboardFragment {
        let found = try await service.messages(Array(marked.keys), in: roomID).sorted { $0.position < $1.position }
        await bodies.prepare(found)
        let layout = layout
        return ClipboardFragment(
            copying: found.filter { !$0.isDeleted }.map {
                layout.item($0, startsGroup: true, endsGroup: true, quote: nil)
            })
    }

    private func marksChanged(_ ids: [MessageID]) {
        var next = state
        next.markedCount = marked.count
        next.canDeleteMarked = !marked.isEmpty && marked.values.allSatisfy { $0 }
        if next != state { state = next }
        layOut(at: ids.compactMap(loaded.position(of:)))
    }
}
