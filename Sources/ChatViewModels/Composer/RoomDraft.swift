import ChatCore
import Composer
import ComposerSessions

/// A room's draft: restores the stored one into a session, and stores what is written there.
final class RoomDraft {
    private let session: ComposerSession
    private let reader: DraftReader
    private let writer: DraftWriter

    /// Input waits from now on until ``restore()``.
    init(in session: ComposerSession, of roomID: RoomID, service: any DraftService, time: Timekeeper) {
        self.session = session
        session.waitForDraft()
        reader = DraftReader(service: service, roomID: roomID, time: time)
        writer = DraftWriter(service: service, roomID: roomID, stored: session.makeDraft()) { [weak session] in
            session?.report($0)
        }
        reader.onRead = { [weak self] in self?.putBefore($0) }
    }

    /// What to store. Commands being executed count as unsent: the program may end before they do.
    private var current: ComposerDraft { session.makeDraft(storing: "") }

    /// Whether what was written would be lost with the program, after ``flush(after:)``.
    var isUnstored: Bool {
        // What was written before the stored draft is read waits for it.
        session.hasWaitingContent || writer.isFailing || reader.isFailing && (writer.isWaiting || !current.isEmpty)
    }

    /// Has the session handle an event. Once the user writes, a stored draft that could not be read is read again.
    func handle(_ event: ComposerEvent) -> Bool {
        let before = reader.isFailing ? session.makeDraft() : nil
        let isHandled = session.handle(event)
        if let before, session.makeDraft() != before { startReadingAgain() }
        return isHandled
    }

    // MARK: Reading

    /// Restores the stored draft, then replays the input received meanwhile.
    func restore() async {
        switch await reader.read() {
        case .success(let saved?) where !saved.data.isEmpty:
            // The stored row of a damaged draft stays until a new draft is written.
            session.restore(encoded: saved.data) { MentionTarget(firstDraft: $0, $1) }
        case .success: break
        case .failure(let error):
            session.report(ChatError(error))
            writer.hold()
        }
        writer.noteStored(session.makeDraft())
        session.becomeReady()
    }

    /// Reads the stored draft now, if it could not be read.
    /// - Returns: the error if it still cannot be.
    func readAgain() async -> ChatError? { await reader.readAgain() }

    /// Reads the stored draft soon, if it could not be read.
    func startReadingAgain() {
        guard reader.isFailing else { return }
        Task { await reader.readAgain() }
    }

    /// Puts the stored draft, which could not be read before, before what was written meanwhile.
    private func putBefore(_ saved: SavedDraft?) {
        let isWritten = writer.isWaiting || !current.isEmpty
        if let saved, !saved.data.isEmpty {
            session.putBefore(encoded: saved.data) { MentionTarget(firstDraft: $0, $1) }
        }
        if isWritten { store() } else { writer.noteStored(session.makeDraft()) }
        writer.release()
    }

    // MARK: Storing

    /// Stores what is written now, or once the draft is no longer suspended.
    func store() { writer.write(current) }

    /// Suspends storing until a matching number of ``release()`` calls.
    func hold() { writer.hold() }
    func release() { writer.release() }

    /// Returns when nothing is being stored. A suspended draft stays queued.
    func waitUntilIdle() async { await writer.waitUntilIdle() }

    /// Performs an action once a draft is stored that could not be stored before.
    func whenStored(_ action: @escaping () -> Void) { writer.whenStored(action) }

    /// Stores the draft once these deliveries are done.
    /// - Returns: whether the draft is stored.
    func flush(after deliveries: DeliveryQueue) async -> Bool {
        repeat {
            await deliveries.finish()
            await reader.readAgain()
            _ = handle(.restoreFailedMessage)
            if session.isReady { writer.writeIfNeeded(current) }
            await writer.waitUntilIdle()
            // Another message may have been sent meanwhile, which suspends the draft.
            // What was not read holds back all drafts.
        } while writer.isWaiting && !reader.isFailing
        return session.isReady && !reader.isFailing && !writer.isFailing
    }
}
