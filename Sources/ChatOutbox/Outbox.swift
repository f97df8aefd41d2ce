public import ChatCore
public import Foundation

/// Sends what was queued, exactly once and in order, whatever happens to the network or to this process.
///
/// Each room has a queue. One request of a room is in flight at a time, and the next follows when the server has
/// acknowledged it; rooms do not wait for each other. What fails is tried again, later and later; a message that the
/// server refuses stops its room until the user retries or discards it, a change that it refuses is set aside.
public actor Outbox {
    /// After this time online without success a request is marked as unsent.
    public static let overdueAfter = Duration.seconds(300)

    let storage: any OutboxStorage
    let backend: any OutboxBackend
    let clock: any Clock<Duration>
    let backOff: BackOff
    let draw: @Sendable () -> Double
    let now: @Sendable () -> Date
    /// Since the outbox was made, on its clock.
    let elapsed: @Sendable () -> Duration

    var rooms: [RoomID: RoomQueue] = [:]
    private(set) var isOnline: Bool
    private(set) var isClosed = false
    /// No attempt begins before this time, on ``elapsed``.
    var heldUntil = Duration.zero
    /// Of what is done but could not be written down: it goes with the next change.
    private var unsaved = OutboxChange()
    var marking: Task<Void, Never>?
    private var onlineTotal = Duration.zero
    private var onlineSince: Duration?
    private var observers: [RoomID: [Int: AsyncStream<[OutboxItem]>.Continuation]] = [:]
    private var nextObserver = 0
    /// The last of the changes that are being written down.
    private var writing: Task<Void, any Error>?

    /// - Parameters:
    ///   - storage: for this outbox alone.
    ///   - clock: on which it waits.
    ///   - draw: a number from 0 to 1, another each time.
    ///   - now: the time of day, for ``OutboxRequest/queuedAt``.
    public init(
        storage: any OutboxStorage, backend: any OutboxBackend, isOnline: Bool = true,
        clock: any Clock<Duration> = ContinuousClock(), backOff: BackOff = BackOff(),
        draw: @escaping @Sendable () -> Double = { Double.random(in: 0...1) },
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.storage = storage
        self.backend = backend
        self.isOnline = isOnline
        self.clock = clock
        self.backOff = backOff
        self.draw = draw
        self.now = now
        elapsed = Self.stopwatch(clock)
        onlineSince = isOnline ? .zero : nil
    }

    /// Goes on with what an earlier run left. To be called once, before anything else.
    /// - Throws: ``ChatError`` of the storage.
    public func start() async throws {
        for var request in try await storage.outboxRequests() {
            if case .queued(let target) = request.action.target, rooms[request.room]?[target] == nil {
                // Only damage can have parted them.
                request.failure = "the message it changes is lost"
            }
            rooms[request.room, default: RoomQueue()].append(
                RoomQueue.Entry(request: request, isTouched: true, onlineBefore: onlineTime))
        }
        for room in rooms.keys { changed(room) }
    }

    /// Ends the work. An attempt under way is cancelled; what became of it is found out after the next start.
    public func close() async {
        isClosed = true
        marking?.cancel()
        let workers = rooms.values.compactMap(\.worker)
        for queue in rooms.values {
            queue.worker?.cancel()
            queue.pause?.cancel()
        }
        for worker in workers { await worker.value }
        for continuation in observers.values.flatMap(\.values) { continuation.finish() }
        observers = [:]
    }

    /// Tells whether there is a network. When it comes back, each room is tried at once.
    public func setOnline(_ isOnline: Bool) {
        guard isOnline != self.isOnline else { return }
        if let since = onlineSince { onlineTotal += elapsed() - since }
        onlineSince = isOnline ? elapsed() : nil
        self.isOnline = isOnline
        if !isOnline { marking?.cancel() }
        if !isOnline { marking = nil }
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

    /// What is on its way in a room, in order: now, and after each change. A slow reader sees the newest state.
    public nonisolated func items(in room: RoomID) -> AsyncStream<[OutboxItem]> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: [OutboxItem].self, bufferingPolicy: .bufferingNewest(1))
        Task { await observe(room, with: continuation) }
        return stream
    }

    /// How long the network has been there, in all.
    var onlineTime: Duration { onlineTotal + (onlineSince.map { elapsed() - $0 } ?? .zero) }

    /// Tells the observers of a room, and sees that someone works on it.
    func changed(_ room: RoomID) {
        publish(room)
        wake(room)
        if marking == nil { scheduleOverdueCheck() }
    }

    func publish(_ room: RoomID) {
        if let observers = observers[room], !observers.isEmpty {
            let items = rooms[room]?.items ?? []
            for continuation in observers.values { continuation.yield(items) }
        }
    }

    /// Writes a change down, together with what could not be written before.
    /// - Throws: ``ChatError`` of the storage: nothing of the change is written then.
    func commit(_ change: OutboxChange) async throws { try await enqueue(change, retainsOnFailure: false).value }

    /// Writes down what has happened. What can't be written now is written with the next change; should the process
    /// end before, the request is repeated and the server knows its transaction.
    func note(_ change: OutboxChange) async { _ = await enqueue(change, retainsOnFailure: true).result }

    /// Changes reach the disk in the order of the calls: a later one may remove what an earlier one puts. The task is
    /// not cancelled with its caller.
    private func enqueue(_ change: OutboxChange, retainsOnFailure: Bool) -> Task<Void, any Error> {
        let writing = Task { [earlier = self.writing] in
            _ = await earlier?.result
            try await write(change, retainsOnFailure: retainsOnFailure)
        }
        self.writing = writing
        return writing
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
    }

    private func observe(_ room: RoomID, with continuation: AsyncStream<[OutboxItem]>.Continuation) {
        guard !isClosed else { return continuation.finish() }
        nextObserver += 1
        let token = nextObserver
        observers[room, default: [:]][token] = continuation
        continuation.onTermination = { [weak self] _ in Task { await self?.forget(token, in: room) } }
        continuation.yield(rooms[room]?.items ?? [])
    }

    private func forget(_ token: Int, in room: RoomID) {
        observers[room]?[token] = nil
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
