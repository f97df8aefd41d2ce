import ChatCore
import Composer
import Foundation

/// Writes a room's drafts in order, off the main actor, and only the newest of those that wait.
final class DraftWriter {
    private let service: any DraftService
    private let roomID: RoomID
    private var waiting: ComposerDraft?
    private var writing: Task<Void, Never>?

    init(service: any DraftService, roomID: RoomID) {
        self.service = service
        self.roomID = roomID
    }

    func write(_ draft: ComposerDraft) {
        waiting = draft
        guard writing == nil else { return }
        writing = Task { [self] in
            while let next = waiting {
                waiting = nil
                await Self.save(next, service, roomID)
            }
            writing = nil
        }
    }

    /// Returns when all that was handed in has been written.
    func finish() async {
        while let writing { await writing.value }
    }

    @concurrent
    private static func save(_ draft: ComposerDraft, _ service: any DraftService, _ roomID: RoomID) async {
        if draft.isEmpty {
            try? await service.saveDraft(nil, in: roomID)
        } else if let data = try? draft.encoded() {
            try? await service.saveDraft(
                SavedDraft(data: data, preview: String(draft.content.text.prefix(200))), in: roomID)
        }
    }
}
