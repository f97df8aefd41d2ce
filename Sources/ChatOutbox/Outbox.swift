public import ChatCore
public import Foundation

/// Sends queued requests exactly once and in order, despite network failures and restarts of the process.
///
/// Each room has a queue with one request in flight at a time; the next one is sent when the server has acknowledged
/// it. Rooms do not wait for each other. Failed attempts are retried with increasing delays. A message that the server
/// rejects blocks its room until the user retries or discards it, except for changes of sent messages; a rejected
/// change is skipped.
public actor Outbox {
    /// A request that has not succeeded after this time online is marked as overdue.
    public static let overdueAfter = Duration.seconds(300)

    let storage: any OutboxStorage
    let backend: any OutboxBackend
    let clock: any Clock<Duration>
    let backOff: BackOff
    let draw: @Sendable () -> Double
    let now: @Sendable () -> Date
    let retainsAccepted: Bool
    /// The time since the outbox was created, on ``clock``.
    let elapsed: @Sendable () -> Duration

    var rooms: [RoomID: RoomQueue] = [:]
    private(set) var isClosed = false
    /// No attempt starts before this time, as measured by ``elapsed``: the server's rate limit.
    var heldUntil = Duration.zero
    /// Completed changes that could not be stored, to be stored with the next change.
    private var unsaved = OutboxChange()
    var marking: Task<Void, Never>?
    private var online: OnlineTime
    private var observers: [RoomID: Observers<[OutboxItem]>] = [:]
    /// Changes are written in call order, since a later one may remove what an earlier one adds.
    private let writes = SerialGate()

    /// - Parameters:
    ///   - storage: must not be shared with another outbox.
    ///   - retainsAccepted: whether an accepted message, with the accepted changes of it, stays among the items until
    ///     ``confirm(_:in:)``. The storage does not retain it.
    ///   - clock: the clock for delays.
    ///   - draw: returns a random number from 0 to 1.
    ///   - now: returns the wall-clock time, for ``OutboxRequest/queuedAt``.
    public init(
        storage: any OutboxStorage, backend: any OutboxBackend, isOnline: Bool = true, retainsAccepted: Bool = false,
        clock: any Clock<Duration> = ContinuousClock(), backOff: BackOff = BackOff(),
        draw: @escaping @Sendable () -> Double = { Double.random(in: 0...1) },
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.storage = storage
        self.backend = backend
        online = OnlineTime(isOnline: isOnline)
        self.retainsAccepted = retainsAccepted
        self.clock = clock
        self.backOff = backOff
        self.draw = draw
        self.now = now
        elapsed = Self.stopwatch(clock)
    }

    /// Resumes the requests of an earlier run. Call it once, before anything else.
    /// - Parameter convert: converts requests of an earlier version.
    /// - Throws: ``ChatError`` from the storage, or the error of the conversion.
    public func start(
        converting convert: @Sendable ([OutboxRequest]) async throws -> [OutboxRequest] = { $0 }
    ) async throws {
        for var request in try await convert(storage.outboxRequests()) {
            if case .queued(let target) = request.action.target, rooms[request.room]?[target] == nil {
                // Only a damaged store can contain a change without its message.
                request.failure = "the message it changes is lost"
            }
            rooms[request.room, default: RoomQueue()].append(
                RoomQueue.Entry(
                    request: request, isTouched: request.wasAttempted, wasAttemptedBefore: request.wasAttempted,
                    onlineBefore: onlineTime))
        }
        for room in rooms.keys {
            await removeDeletedRejections(in: room)
            changed(room)
        }
    }

    /// Stops sending. Attempts in flight are canceled and repeated after the next start, with the same transaction ID.
    public func close() async {
        isClosed = true
        marking?.cancel()
        let workers = rooms.values.compactMap(\.worker)
        for queue in rooms.values {
            queue.worker?.cancel()
            queue.pause?.cancel()
        }
        for worker in workers { await worker.value }
        for room in observers.keys { observers[room]?.finish() }
        observers = [:]
    }

    /// Sets whether the network is available. When it returns, all rooms retry immediately.
    public func setOnline(_ isOnline: Bool) {
        guard isOnline != self.isOnline else { return }
        online.set(isOnline, at: elapsed())
        if !isOnline {
            marking?.cancel()
            marking = nil
        }
        for room in rooms.keys {
            if isOnline {
                rooms[room]?.updateAll { entry in
                    entry.failures = 0
                    entry.notBefore = .zero
                }
            }
            changed(room)
        }
    }

    /// Retries all requests whose attempts have failed without a rejection, because what they lacked is there now. If
    /// they fail again, their delays go on growing: a server in trouble may be reached and lost again and again.
    public func retryDelayed() {
        for (room, queue) in rooms where queue.entries.contains(where: { $0.failures > 0 }) {
            rooms[room]?.updateAll { $0.notBefore = .zero }
            changed(room)
        }
    }

    /// The requests of a room in order, now and after each change. Slow consumers receive only the newest state.
    public nonisolated func items(in room: RoomID) -> AsyncStream<[OutboxItem]> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: [OutboxItem].self, bufferingPolicy: .bufferingNewest(1))
        Task { await observe(room, with: continuation) }
        return stream
    }

    /// Whether the network is available.
    var isOnline: Bool { online.isOnline }

    /// The total time the network has been available.
    var onlineTime: Duration { online.total(at: elapsed()) }

    /// Notifies a room's observers and starts its worker if needed.
    func changed(_ room: RoomID) {
        publish(room)
        wake(room)
        if marking == nil { scheduleOverdueCheck() }
    }

    func publish(_ room: RoomID) {
        if observers[room] != nil { observers[room]?.yield(rooms[room]?.items ?? []) }
    }

    /// Stores a change, together with earlier ones that could not be stored.
    /// - Throws: ``ChatError`` from the storage, or ``ChatError/notFound`` if its room no longer exists; the change is
    ///   then not stored.
    func commit(_ change: OutboxChange) async throws { try await enqueue(change, retainsOnFailure: false) }

    /// Stores the outcome of an attempt, with the next change if that fails now. If the process ends before that, the
    /// request is repeated, and the server recognizes its transaction ID.
    func note(_ change: OutboxChange) async {
        // If this fails, the change is in `unsaved`.
        try? await enqueue(change, retainsOnFailure: true)
    }

    /// Writes in a separate task, which is not canceled along with the caller.
    private func enqueue(_ change: OutboxChange, retainsOnFailure: Bool) async throws {
        try await writes.runEvenIfCanceled {
            try await Task { try await write(change, retainsOnFailure: retainsOnFailure) }.value
        }
    }

    private func write(_ change: OutboxChange, retainsOnFailure: Bool) async throws {
        var whole = change
        let changedKeys = Set(change.put.map(\.key)).union(change.removed)
        whole.put = unsaved.put.filter { !changedKeys.contains($0.key) } + change.put
        whole.removed.formUnion(unsaved.removed.subtracting(change.put.map(\.key)))
        do {
            try await storage.commit(whole)
            unsaved = OutboxChange()
        } catch {
            if retainsOnFailure { unsaved = whole }
            throw error
        }
        let lost = await roomsLeft(of: whole)
        for room in lost { await removeAgain(whole, in: room) }
        if change.put.contains(where: { lost.contains($0.room) }) { throw ChatError.notFound }
    }

    /// Returns the rooms of stored requests that were left meanwhile.
    private func roomsLeft(of change: OutboxChange) async -> Set<RoomID> {
        var rooms: Set<RoomID> = []
        for room in Set(change.put.map(\.room)) {
            // If that cannot be read, the request stays: it is not lost in a room that is there.
            let exists = (try? await storage.hasRoom(room)) ?? true
            if !exists { rooms.insert(room) }
        }
        return rooms
    }

    /// Removes requests that were stored after their room was removed with what was unsent in it: for them, the next
    /// start would bring the room back. So would a draft that was stored with them.
    private func removeAgain(_ change: OutboxChange, in room: RoomID) async {
        let keys = Set(change.put.filter { $0.room == room }.map(\.key))
        do {
            try await storage.commit(OutboxChange(removed: keys, sentDraft: room))
        } catch {
            unsaved.removed.formUnion(keys)
        }
    }

    private func observe(_ room: RoomID, with continuation: AsyncStream<[OutboxItem]>.Continuation) {
        guard !isClosed else { return continuation.finish() }
        let token = observers[room, default: Observers()].add(continuation)
        continuation.onTermination = { [weak self] _ in Task { await self?.forget(token, in: room) } }
        continuation.yield(rooms[room]?.items ?? [])
    }

    private func forget(_ token: Int, in room: RoomID) {
        observers[room]?.remove(token)
        if observers[room]?.isEmpty == true { observers[room] = nil }
    }

    private static func stopwatch<C: Clock<Duration>>(_ clock: C) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}

extension OutboxRequest {
    var key: OutboxChange.Key { OutboxChange.Key(room: room, id: id) }
}
