import ChatCore
import Composer
import Foundation

/// Writes a room's drafts in order, off the main actor; of those waiting, only the newest.
final class DraftWriter {
    private let sink: LatestValueSink<ComposerDraft>
    private let failures: Failures
    /// The draft passed in last, or known to be stored.
    private var latest: ComposerDraft

    /// - Parameters:
    ///   - stored: the draft that the storage holds.
    ///   - onFailure: receives the first error of consecutive failures, unless the room no longer exists.
    init(
        service: any DraftService, roomID: RoomID, stored: ComposerDraft, onFailure: @escaping (ChatError) -> Void
    ) {
        let failures = Failures(onFailure)
        self.failures = failures
        latest = stored
        sink = LatestValueSink { draft in
            failures.note(await Self.save(draft, service, roomID))
        }
    }

    /// Whether the last draft could not be written, as in a room that no longer exists.
    var isFailing: Bool { failures.isFailing }
    /// Performs an action once a draft is stored, which is passed in from now on.
    func whenStored(_ action: @escaping () -> Void) { failures.onRecovery.append(action) }

    /// Whether a draft is suspended.
    var isWaiting: Bool { sink.isWaiting }

    func write(_ draft: ComposerDraft) {
        latest = draft
        sink.put(draft)
    }

    /// Writes a draft if it differs from the last one or the last write failed.
    func writeIfNeeded(_ draft: ComposerDraft) {
        if draft != latest || failures.isFailing { write(draft) }
    }

    /// Records what the storage already holds.
    func noteStored(_ draft: ComposerDraft) { latest = draft }

    /// Suspends writing until a matching number of ``release()`` calls.
    func hold() { sink.hold() }
    func release() { sink.release() }

    /// Returns when no write is in progress. Suspended drafts stay queued.
    func waitUntilIdle() async { await sink.waitUntilIdle() }

    /// - Returns: the draft in stored form, or `nil` if it is empty.
    @concurrent
    static func saved(_ draft: ComposerDraft) async throws -> SavedDraft? {
        guard !draft.isEmpty else { return nil }
        // The preview must not show the text of an edit, which is not a draft of a new message.
        let content = draft.mode == .compose ? draft.content : draft.stash
        let preview = String(content?.written.source.prefix(200) ?? "")
        return SavedDraft(data: try draft.encoded(), preview: preview)
    }

    /// - Returns: the error if the draft could not be written.
    @concurrent
    private static func save(_ draft: ComposerDraft, _ service: any DraftService, _ roomID: RoomID) async -> ChatError?
    {
        do {
            try await service.saveDraft(try await saved(draft), in: roomID)
            return nil
        } catch {
            return ChatError(error)
        }
    }
}

extension DraftWriter {
    private final class Failures {
        private(set) var isFailing = false
        /// Whether one of consecutive failures was reported.
        private var isReported = false
        /// Called once, when a draft is stored again.
        var onRecovery: [() -> Void] = []
        private let onFailure: (ChatError) -> Void

        init(_ onFailure: @escaping (ChatError) -> Void) {
            self.onFailure = onFailure
        }

        func note(_ error: ChatError?) {
            isFailing = error != nil
            guard let error else { return recover() }
            guard error != .notFound, !isReported else { return }
            isReported = true
            onFailure(error)
        }

        private func recover() {
            isReported = false
            let actions = onRecovery
            onRecovery = []
            for action in actions { action() }
        }
    }
}
