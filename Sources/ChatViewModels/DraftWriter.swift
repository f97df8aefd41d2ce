import ChatCore
import Composer
import Foundation

/// Writes a room's drafts in order, off the main actor, and only the newest of those that wait.
final class DraftWriter {
    private let sink: LatestValueSink<ComposerDraft>
    private let failures: Failures
    /// What was handed in last, or is known to be stored.
    private var latest: ComposerDraft

    /// Told of the first of a run of failures. That the room is gone is none.
    var onFailure: ((ChatError) -> Void)? {
        get { failures.handler }
        set { failures.handler = newValue }
    }

    /// - Parameter stored: what the storage holds so far.
    init(service: any DraftService, roomID: RoomID, stored: ComposerDraft) {
        let failures = Failures()
        self.failures = failures
        latest = stored
        sink = LatestValueSink { draft in
            failures.note(await Self.save(draft, service, roomID))
        }
    }

    func write(_ draft: ComposerDraft) {
        latest = draft
        sink.put(draft)
    }

    /// Writes a draft that differs from the last one or was not written for a failure.
    func writeIfNeeded(_ draft: ComposerDraft) {
        if draft != latest || failures.isFailing { write(draft) }
    }

    /// The storage is known to hold this.
    func noteStored(_ draft: ComposerDraft) { latest = draft }

    /// From here on drafts wait, until ``release()`` was called as often as this.
    func hold() { sink.hold() }
    func release() { sink.release() }

    /// Returns when no write is under way. What is held waits on.
    func waitUntilIdle() async { await sink.waitUntilIdle() }

    /// - Returns: the draft as services keep it; nil if there is nothing to keep.
    @concurrent
    static func saved(_ draft: ComposerDraft) async throws -> SavedDraft? {
        guard !draft.isEmpty else { return nil }
        // A message that is being edited is no draft of a new one.
        let content = draft.mode == .compose ? draft.content : draft.stash
        let preview = String(content?.written.source.prefix(200) ?? "")
        return SavedDraft(data: try draft.encoded(), preview: preview)
    }

    /// - Returns: why the draft was not written.
    @concurrent
    private static func save(_ draft: ComposerDraft, _ service: any DraftService, _ roomID: RoomID) async -> ChatError?
    {
        do {
            try await service.saveDraft(try await saved(draft), in: roomID)
            return nil
        } catch ChatError.notFound {
            return nil
        } catch {
            return ChatError(error)
        }
    }
}

extension DraftWriter {
    private final class Failures {
        var handler: ((ChatError) -> Void)?
        private(set) var isFailing = false

        func note(_ error: ChatError?) {
            defer { isFailing = error != nil }
            if let error, !isFailing { handler?(error) }
        }
    }
}
