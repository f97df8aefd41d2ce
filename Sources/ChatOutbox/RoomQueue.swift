import ChatCore

/// What is on its way in one room, in order. One at a time is in flight: the first that was not set aside.
struct RoomQueue {
    struct Entry {
        var request: OutboxRequest
        /// How many attempts failed in a row.
        var failures = 0
        var isInFlight = false
        /// Whether the server may have seen it: from the first attempt on, or since an earlier run of the process.
        var isTouched: Bool
        /// How long the outbox had been online when it was queued.
        let onlineBefore: Duration
        /// When the next attempt may begin, in the outbox's time.
        var notBefore = Duration.zero
        /// Whether it is on the disk. Otherwise nothing is to begin with it.
        var isStored = true
        /// Whether it is being taken from the disk: nothing is to begin with it, nor to be written of it.
        var isLeaving = false
        var isOverdue = false
        /// The message that it became, while that is being written down.
        var sentAs: MessageID?
        /// How much of the first file that is not uploaded yet is, from 0 to 1.
        var uploadedFraction = 0.0

        /// Whether it can be changed or taken out as it stands here: the server has not seen it, or will have none of it.
        var canChange: Bool { !isTouched || request.failure != nil }
        /// Whether it holds up nobody: a change that was refused, or what can't be read. What follows a message that was refused may answer it.
        var isSetAside: Bool {
            request.failure != nil && (request.action.target != nil || request.action == .unreadable)
        }

        /// See ``OutboxItem/upload``.
        var upload: Double? {
            guard case .send(let message) = request.action,
                let current = message.files.firstIndex(where: \.isOnlyHere)
            else { return nil }
            let sizes = message.files.map { Double(max($0.bytes ?? 1, 1)) }
            let done = zip(message.files, sizes).map { $0.isOnlyHere ? 0 : $1 }.reduce(0, +)
            return (done + sizes[current] * uploadedFraction) / sizes.reduce(0, +)
        }

        var item: OutboxItem {
            let state: OutboxItem.State =
                if let reason = request.failure {
                    .failed(reason: reason)
                } else if isInFlight {
                    .sending
                } else if failures > 0 {
                    .retrying(attempts: failures)
                } else {
                    .waiting
                }
            return OutboxItem(request: request, state: state, isOverdue: isOverdue, upload: upload)
        }
    }

    private(set) var entries: [Entry] = []
    var worker: Task<Void, Never>?
    /// Ended early when something changed that is worth another look.
    var pause: Task<Void, Never>?
    /// The upload of a file of the one that is in flight.
    var uploading: Task<String, any Error>?

    var isEmpty: Bool { entries.isEmpty }
    var head: Entry? { entries.first { !$0.isSetAside } }
    var items: [OutboxItem] { entries.map(\.item) }

    subscript(id: TransactionID) -> Entry? {
        get { entries.first { $0.request.id == id } }
        set {
            guard let newValue, let index = entries.firstIndex(where: { $0.request.id == id }) else { return }
            entries[index] = newValue
        }
    }

    mutating func append(_ entry: Entry) { entries.append(entry) }

    mutating func remove(_ ids: Set<TransactionID>) {
        if let first = entries.first, ids == [first.request.id] {
            entries.removeFirst()
        } else {
            entries.removeAll { ids.contains($0.request.id) }
        }
    }

    /// Requests that change the message of the given request.
    func dependents(of id: TransactionID) -> [Entry] {
        entries.filter { $0.request.action.target == .queued(id) }
    }

    /// A request for this target that can still be changed.
    func changeable(for target: OutboxTarget, where condition: (OutboxAction) -> Bool) -> Entry? {
        entries.last { entry in
            entry.canChange && !entry.isLeaving && entry.request.action.target == target
                && condition(entry.request.action)
        }
    }

    mutating func setLeaving(_ ids: Set<TransactionID>, _ isLeaving: Bool) {
        updateAll { if ids.contains($0.request.id) { $0.isLeaving = isLeaving } }
    }

    mutating func updateAll(_ body: (inout Entry) -> Void) {
        for index in entries.indices { body(&entries[index]) }
    }
}
