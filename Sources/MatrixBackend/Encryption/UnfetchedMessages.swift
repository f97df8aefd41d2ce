import ChatCore
import ChatStore

/// Requests encrypted messages that earlier versions of Parlance did not store, or that a repair of the store did not
/// find, when they are shown: one at a time, and each once.
actor UnfetchedMessages {
    /// The maximum number of requests when a room is opened.
    private static let maxAtOpening = 100

    private let client: MatrixClient
    private let store: ChatStore
    private let sealed: SealedMessages
    private var waiting: [(room: RoomID, id: MessageID)] = []
    private var requested: [RoomID: Set<MessageID>] = [:]
    private var task: Task<Void, Never>?
    private var isStopped = false

    init(client: MatrixClient, store: ChatStore, sealed: SealedMessages) {
        self.client = client
        self.store = store
        self.sealed = sealed
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
                if let event = try await client.event(id, in: room) { try await sealed.open(event, in: room) }
                waiting.removeFirst()
            } catch MatrixError.rejected {
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
