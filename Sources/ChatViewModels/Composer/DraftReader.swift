import ChatCore
import ComposerSessions

/// Reads a room's stored draft. After a failure it is read again until that succeeds.
final class DraftReader {
    static let retryDelay = Duration.seconds(2)

    private let service: any DraftService
    private let roomID: RoomID
    private let time: Timekeeper
    private var reading: Task<ChatError?, Never>?
    private var retry: Task<Void, Never>?
    /// Whether the draft could not be read yet, so that it must not be overwritten.
    private(set) var isFailing = false
    /// Receives a draft that is read after a failure.
    var onRead: (SavedDraft?) -> Void = { _ in }

    init(service: any DraftService, roomID: RoomID, time: Timekeeper) {
        self.service = service
        self.roomID = roomID
        self.time = time
    }

    isolated deinit { retry?.cancel() }

    func read() async -> Result<SavedDraft?, any Error> {
        let stored = await Result { [service, roomID] in try await service.draft(in: roomID) }
        if case .failure = stored {
            isFailing = true
            retryLater()
        } else {
            isFailing = false
        }
        return stored
    }

    /// Reads the draft again now, if it could not be read.
    /// - Returns: the error if it still cannot be.
    @discardableResult
    func readAgain() async -> ChatError? {
        guard isFailing else { return nil }
        if let reading { return await reading.value }
        retry?.cancel()
        let task = Task { await self.readUnread() }
        reading = task
        return await task.value
    }

    private func readUnread() async -> ChatError? {
        let stored = await read()
        reading = nil
        switch stored {
        case .success(let saved): onRead(saved)
        case .failure(let error): return ChatError(error)
        }
        return nil
    }

    private func retryLater() {
        let end = time.now() + Self.retryDelay
        retry = Task { [weak self, time] in
            do { try await time.sleep(end) } catch { return }
            if !Task.isCancelled { await self?.readAgain() }
        }
    }
}
