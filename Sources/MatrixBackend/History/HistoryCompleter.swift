import ChatCore
import ChatStore

/// Fetches the messages of users who are no longer ignored: the server left these out between the messages of others,
/// and does not send them by itself.
///
/// The newest chunk of a room may be ahead of the sync. If it were stored then, its messages would notify nobody, and
/// hide that others are missing. It is stored after a sync that began later. A room is done after another such sync,
/// since the users may have been ignored again before the last request.
actor HistoryCompleter {
    /// The maximum number of history chunks per room, to spare the server.
    private static let maxChunks = 50
    /// The maximum number of rooms whose newest chunks wait for a sync.
    private static let maxRooms = 20
    /// The maximum number of attempts of a request while the server limits the rate.
    private static let maxAttempts = 3
    /// The maximum number of times that the history of a room cannot be had, until the next start of the program.
    private static let maxFailures = 5
    /// The maximum number of rooms per pass whose history cannot be had: then the server cannot be reached.
    private static let maxFailedRooms = 3

    /// The newest chunk of a room.
    private struct NewestChunk {
        var page: HistoryPage
        var room: IncompleteRoom
        /// The number of syncs that had begun when it came.
        var syncs: Int
    }

    /// The end of what can be had of a room.
    private struct Completion {
        var senders: Set<MemberID>
        /// The number of syncs that had begun when the last chunk came.
        var syncs: Int
    }

    private enum Answer {
        case page(HistoryPage)
        /// The user cannot have what is missing.
        case absent
        /// Rejected for another reason, or unusable: the next start of the program asks again.
        case unusable
        case busy
    }

    private let store: ChatStore
    private let filler: GapFiller
    private let status: SyncStatus
    private let clock: any Clock<Duration>
    /// The number of the last sync that has caught up.
    private var lastSync = 0
    /// Counts the lists of ignored users.
    private var generation = 0
    private var newest: [RoomID: NewestChunk] = [:]
    private var completed: [RoomID: Completion] = [:]
    /// The rooms that are left to the next start of the program, or to another list.
    private var skipped: Set<RoomID> = []
    /// How often the history of a room could not be had.
    private var failures: [RoomID: Int] = [:]
    /// Whether rooms may have become incomplete since the last pass.
    private var isStale = true
    private var isStopped = false
    private var task: Task<Void, Never>?

    init(store: ChatStore, filler: GapFiller, status: SyncStatus, clock: any Clock<Duration>) {
        self.store = store
        self.filler = filler
        self.status = status
        self.clock = clock
    }

    /// Begins anew, as the list of ignored users changes.
    func restart() {
        generation += 1
        newest = [:]
        completed = [:]
        skipped = []
        failures = [:]
        isStale = true
    }

    /// Starts a pass if there is anything to do and none is running.
    /// - Parameter sync: The number of a sync that has caught up.
    func start(after sync: Int) {
        lastSync = max(lastSync, sync)
        guard isStale || !newest.isEmpty || !completed.isEmpty, task == nil, !isStopped else { return }
        isStale = false
        task = Task { await run() }
    }

    /// Ends fetching permanently; the next start of the program begins anew.
    func stop() async {
        isStopped = true
        task?.cancel()
        await task?.value
    }

    private func run() async {
        defer { task = nil }
        do {
            let rooms = try await store.incompleteRooms()
            newest = newest.filter { rooms.contains($0.key) }
            completed = completed.filter { rooms.contains($0.key) }
            var failedRooms = 0
            for room in rooms where !skipped.contains(room) {
                do {
                    try await advance(room)
                } catch MatrixError.unreachable {
                    // The server may fail for this room alone, which must not keep others from being completed.
                    noteFailure(of: room)
                    failedRooms += 1
                    if failedRooms == Self.maxFailedRooms { return isStale = true }
                }
            }
        } catch {
            // The session has ended, or the store failed: try again after a later sync.
            isStale = true
        }
    }

    private func noteFailure(of room: RoomID) {
        failures[room, default: 0] += 1
        if failures[room, default: 0] < Self.maxFailures {
            isStale = true
        } else {
            skipped.insert(room)
        }
    }

    /// Goes as far as the syncs allow.
    private func advance(_ room: RoomID) async throws {
        if let completion = completed[room] {
            guard completion.syncs < lastSync else { return }
            completed[room] = nil
            try await store.endCompletion(of: room, by: completion.senders)
            // Others may have been left for later.
            isStale = true
        } else if let chunk = newest[room] {
            guard chunk.syncs < lastSync else { return }
            newest[room] = nil
            try await complete(room, from: chunk)
        } else if newest.count < Self.maxRooms {
            try await requestNewest(of: room)
        } else {
            isStale = true
        }
    }

    private func requestNewest(of room: RoomID) async throws {
        let generation = self.generation
        guard let incomplete = try await store.incompleteRoom(room) else { return }
        let page = try await page(before: nil, token: nil, in: room, by: incomplete.senders, generation)
        if let page { newest[room] = NewestChunk(page: page, room: incomplete, syncs: status.count) }
    }

    private func complete(_ room: RoomID, from chunk: NewestChunk) async throws {
        let (generation, senders) = (self.generation, chunk.room.senders)
        var page = chunk.page
        var end = HistoryEnd.now(last: chunk.room.last)
        // Events before the end whose place is not known yet.
        var rest: [MatrixEvent] = []
        var isWhole = true
        for _ in 0..<Self.maxChunks {
            let events: [MatrixEvent] = page.events.reversed() + rest
            let completion = try await filler.complete(
                room, with: events, state: page.state, before: end, older: page.next, by: senders)
            isWhole = isWhole && completion.isWhole
            var token = page.next
            var message: MessageID?
            switch completion.remainder {
            case .nothing: return finish(room, senders, isWhole: isWhole, generation)
            case .outdated:
                isStale = true
                return
            case .older:
                rest = []
                if case .message(let id) = end { message = id }
            case .before(let id):
                rest = Array(events.prefix { $0.id != id })
                (end, message) = (.message(id), id)
            case .beforeGap(let id):
                rest = []
                (end, message, token) = (.message(id), id, nil)
            }
            let next = try await self.page(before: message, token: token, in: room, by: senders, generation)
            guard let next else { return }
            page = next
        }
        finish(room, senders, isWhole: isWhole, generation)
    }

    /// Records the end of a room after its last chunk.
    private func finish(_ room: RoomID, _ senders: Set<MemberID>, isWhole: Bool, _ generation: Int) {
        guard generation == self.generation else { return }
        if isWhole {
            completed[room] = Completion(senders: senders, syncs: status.count)
        } else {
            skipped.insert(room)
        }
    }

    /// - Returns: `nil` if the room cannot be continued now. What becomes of it is recorded.
    private func page(
        before end: MessageID?, token: String?, in room: RoomID, by senders: Set<MemberID>, _ generation: Int
    ) async throws -> HistoryPage? {
        let answer = try await answer(before: end, token: token, in: room)
        guard generation == self.generation else { return nil }
        switch answer {
        case .page(let page): return page
        case .absent: completed[room] = Completion(senders: senders, syncs: status.count)
        case .unusable: skipped.insert(room)
        case .busy: isStale = true
        }
        return nil
    }

    private func answer(before end: MessageID?, token: String?, in room: RoomID) async throws -> Answer {
        for _ in 0..<Self.maxAttempts {
            try Task.checkCancellation()
            do {
                return .page(try await filler.history(before: end, token: token, in: room))
            } catch MatrixError.busy(let retryAfter) {
                try await clock.sleep(for: min(max(retryAfter, .seconds(1)), .seconds(60)), tolerance: nil)
            } catch MatrixError.rejected(let status, let code, _) where MatrixClient.isAbsence(status, code) {
                return .absent
            } catch MatrixError.rejected, MatrixError.malformed, MatrixError.tooLarge {
                return .unusable
            }
        }
        return .busy
    }
}
