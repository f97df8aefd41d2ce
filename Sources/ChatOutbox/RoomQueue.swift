import ChatCore

/// The requests of a room, in order. One at a time is in flight: ``head``.
struct RoomQueue {
    struct Entry {
        var request: OutboxRequest
        /// The number of consecutive failed attempts.
        var failures = 0
        var isInFlight = false
        /// Whether the server may know of it: an attempt was made or is about to be, in this run of the process or an
        /// earlier one.
        var isTouched: Bool
        /// Whether an earlier run of the process may have attempted it.
        var wasAttemptedBefore = false
        /// The outbox's online time when it was queued.
        let onlineBefore: Duration
        /// The earliest time of the next attempt, as measured by ``Outbox/elapsed``.
        var notBefore = Duration.zero
        /// Whether it is stored. It is not sent before that.
        var isStored = true
        /// Whether it is being removed from the storage: it must be neither sent nor written.
        var isLeaving = false
        var isOverdue = false
        /// The ID of the sent message, while that is being stored.
        var sentAs: MessageID?
        /// Whether the sent message is known elsewhere before the server's response, so that it need not be retained. The
        /// next attempt finds that the server has it.
        var isConfirmed = false
        /// The upload progress of the first file not uploaded yet, from 0 to 1.
        var uploadedFraction = 0.0

        /// Whether it can still be changed or removed locally: the server does not know of it, or has rejected it.
        var canChange: Bool { !isTouched || request.failure != nil }
        /// Whether later messages wait for it: a rejected message, because they may refer to it. A rejected change and
        /// an unreadable request block nothing.
        var blocksMessages: Bool {
            guard case .send = request.action else { return false }
            return request.failure != nil
        }

        /// Whether it changes a message that the server has, and so depends on nothing that is queued but earlier
        /// changes of that message.
        var changesSentMessage: Bool {
            guard case .message = request.action.target else { return false }
            return true
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

    /// A message that the server accepted, or a change of one.
    private struct Accepted {
        let request: OutboxRequest
        /// The event of the message.
        let event: MessageID
    }

    private(set) var entries: [Entry] = []
    /// What was accepted and is not confirmed, in this order.
    private var accepted: [Accepted] = []
    var worker: Task<Void, Never>?
    /// The wait before the next attempt; canceled when the queue changes.
    var pause: Task<Void, Never>?
    /// The file upload in progress for the request in flight.
    var uploading: Task<String, any Error>?

    var isEmpty: Bool { entries.isEmpty && accepted.isEmpty }
    /// The request to send next: the first one that is not rejected; behind a rejected message, the first change of a
    /// sent one.
    var head: Entry? {
        var isBlocked = false
        for entry in entries {
            if entry.request.failure == nil, !isBlocked || entry.changesSentMessage { return entry }
            if entry.blocksMessages { isBlocked = true }
        }
        return nil
    }
    /// What was accepted comes before what waits.
    var items: [OutboxItem] {
        accepted.map { OutboxItem(request: $0.request, state: .accepted($0.event), isOverdue: false) }
            + entries.map(\.item)
    }

    subscript(id: TransactionID) -> Entry? {
        get { entries.first { $0.request.id == id } }
        set {
            guard let newValue, let index = entries.firstIndex(where: { $0.request.id == id }) else { return }
            entries[index] = newValue
        }
    }

    mutating func append(_ entry: Entry) { entries.append(entry) }

    /// The event of an accepted message, or `nil` if it was not accepted or is confirmed.
    func event(of id: TransactionID) -> MessageID? { accepted.first { $0.request.id == id }?.event }

    /// Retains a request that the server accepted: a message, or the change of a retained one.
    /// - Parameter message: the ID of the sent message.
    mutating func retain(_ id: TransactionID, sentAs message: MessageID?) {
        guard let entry = self[id], !entry.isLeaving else { return }
        if let message {
            if !entry.isConfirmed { accepted.append(Accepted(request: entry.request, event: message)) }
        } else if case .message(let event) = entry.request.action.target,
            accepted.contains(where: { $0.event == event })
        {
            accepted.append(Accepted(request: entry.request, event: event))
        }
    }

    /// Drops retained messages with their changes, and retains none of those in flight. Those that have failed are due
    /// again.
    /// - Returns: whether the items changed.
    mutating func confirm(_ ids: Set<TransactionID>) -> Bool {
        var hasDue = false
        updateAll { entry in
            // Once for each: an attempt that fails after that has its delay.
            guard ids.contains(entry.request.id), !entry.isConfirmed else { return }
            entry.isConfirmed = true
            guard entry.request.failure != nil || entry.failures > 0 else { return }
            entry.request.failure = nil
            entry.failures = 0
            entry.notBefore = .zero
            hasDue = true
        }
        let events = Set(accepted.filter { ids.contains($0.request.id) }.map(\.event))
        accepted.removeAll { events.contains($0.event) }
        return hasDue || !events.isEmpty
    }

    mutating func dropAccepted() { accepted = [] }

    mutating func remove(_ ids: Set<TransactionID>) {
        if let first = entries.first, ids == [first.request.id] {
            entries.removeFirst()
        } else {
            entries.removeAll { ids.contains($0.request.id) }
        }
    }

    /// The requests that change the message of a queued request.
    func dependents(of id: TransactionID) -> [Entry] {
        entries.filter { $0.request.action.target == .queued(id) }
    }

    /// The rejected messages whose deletion is queued, with all their changes.
    var deletedRejections: Set<OutboxChange.Key> {
        var keys: Set<OutboxChange.Key> = []
        for entry in entries where entry.request.failure != nil && !entry.isLeaving {
            let changes = dependents(of: entry.request.id)
            guard changes.contains(where: { if case .delete = $0.request.action { true } else { false } }) else {
                continue
            }
            keys.insert(entry.request.key)
            keys.formUnion(changes.map(\.request.key))
        }
        return keys
    }

    /// The changes that a new one replaces, in order.
    func changes(replacedBy action: OutboxAction) -> [Entry] {
        entries.filter { !$0.isLeaving && action.replaces($0.request.action) }
    }

    /// The changes in front of a queued one that it replaces: they were rejected before it was sent.
    func changes(inFrontOf id: TransactionID) -> Set<OutboxChange.Key> {
        guard let entry = self[id], !entry.isLeaving else { return [] }
        let same = changes(replacedBy: entry.request.action)
        return Set(same.prefix { $0.request.id != id }.map(\.request.key))
    }

    mutating func setLeaving(_ ids: Set<TransactionID>, _ isLeaving: Bool) {
        updateAll { if ids.contains($0.request.id) { $0.isLeaving = isLeaving } }
    }

    mutating func updateAll(_ body: (inout Entry) -> Void) {
        for index in entries.indices { body(&entries[index]) }
    }
}

extension OutboxAction {
    /// Whether only the later of the two counts: edits of the same message, or reactions to it with the same text.
    fileprivate func replaces(_ earlier: OutboxAction) -> Bool {
        switch (self, earlier) {
        case (.edit(let target, _), .edit(let other, _)): target == other
        case (.react(let target, let text, _), .react(let other, let otherText, _)):
            target == other && text == otherText
        default: false
        }
    }
}
