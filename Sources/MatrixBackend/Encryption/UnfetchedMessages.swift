import ChatCore
import ChatStore

/// Requests encrypted messages that earlier versions of Parlance did not store, or that a repair of the store did not
/// find, when they are shown or exported: one at a time, and each once.
actor UnfetchedMessages {
    /// The maximum number of requests when a room is opened.
    private static let maxAtOpening = 100
    /// The maximum number of requests before all messages of a room are read.
    private static let maxAtReading = 2000

    private let client: MatrixClient
    private let store: ChatStore
    private let sealed: SealedMessages
    private let clock: any Clock<Duration>
    private var waiting: [(room: RoomID, id: MessageID)] = []
    private var requested: [RoomID: Set<MessageID>] = [:]
    private var task: Task<Void, Never>?
    private var isStopped = false

    init(client: MatrixClient, store: ChatStore, sealed: SealedMessages, clock: any Clock<Duration>) {
        self.client = client
        self.store = store
        self.sealed = sealed
        self.clock = clock
    }

    /// Requests those of a room that was opened.
    func request(in room: RoomID) async {
        // After a failed read, the next opening tries again.
        guard let ids = try? await store.unfetchedMessages(in: room, limit: Self.maxAtOpening) else { return }
        request(ids, in: room)
    }

    /// Requests those of a page that is shown.
    func request(_ page: TimelinePage, in room: RoomID) {
        request(page.messages.filter { $0.seal == .notFetched }.map(\.id).reversed(), in: room)
    }

    /// Requests those of a room that is about to be read, and waits for them. What the server does not return now stays
    /// as it is.
    /// - Throws: Only `CancellationError`.
    func requestAll(in room: RoomID) async throws {
        // If this cannot be read, nor can what follows, which reports it.
        guard let ids = try? await store.unfetchedMessages(in: room, limit: Self.maxAtReading) else { return }
        for id in ids {
            // What was requested and is not waiting any more was rejected.
            let isNew = requested[room, default: []].insert(id).inserted
            guard isNew || waiting.contains(where: { $0.room == room && $0.id == id }) else { continue }
            do {
                try await fetchUnlessBusy(id, in: room)
            } catch let error as MatrixError where error.isAboutEvent {
                continue
            } catch {
                requested[room]?.remove(id)
                try Task.checkCancellation()
                return
            }
        }
    }

    /// Requests a message as often as the server is too busy.
    private func fetchUnlessBusy(_ id: MessageID, in room: RoomID) async throws {
        while true {
            try Task.checkCancellation()
            guard !isStopped else { throw CancellationError() }
            do {
                return try await fetch(id, in: room)
            } catch MatrixError.busy(let retryAfter) {
                try await clock.sleep(for: min(max(retryAfter, .seconds(1)), .seconds(60)), tolerance: nil)
            }
        }
    }

    private func fetch(_ id: MessageID, in room: RoomID) async throws {
        if let event = try await client.event(id, in: room) { try await sealed.open(event, in: room) }
    }

    private func request(_ ids: [MessageID], in room: RoomID) {
        let new = ids.filter { requested[room, default: []].insert($0).inserted }
        waiting += new.map { (room, $0) }
        guard !waiting.isEmpty, task == nil, !isStopped, client.token != nil else { return }
        task = Task { await run() }
    }

    /// Stops after the current request.
    func stop() async {
        isStopped = true
        task?.cancel()
        await task?.value
    }

    private func run() async {
        defer { task = nil }
        while let (room, id) = waiting.first, !Task.isCancelled {
            do {
                try await fetch(id, in: room)
                waiting.removeFirst()
            } catch let error as MatrixError where error.isAboutEvent {
                // The server no longer returns the event.
                waiting.removeFirst()
            } catch {
                // Requested again when they are shown again.
                for (room, id) in waiting { requested[room]?.remove(id) }
                waiting = []
            }
        }
    }
}

extension MatrixError {
    /// Whether the server does not return this event, whatever it does with others.
    fileprivate var isAboutEvent: Bool {
        guard case .rejected = self else { return false }
        return !isAboutAccount
    }
}
