public import ChatCore
public import Composer

extension Outbox {
    /// Queues a message. Once this returns, the message survives a restart of the process.
    ///
    /// - Parameters:
    ///   - transaction: the message's transaction ID; one that is queued already is not queued again.
    ///   - removingDraft: whether to delete the room's draft along with it.
    /// - Throws: ``ChatError`` if the message could not be stored; it is then not queued.
    public func send(
        _ message: WrittenMessage, transaction: TransactionID, to room: RoomID, removingDraft: Bool = false
    ) async throws {
        try await send([(transaction, message)], to: room, removingDraft: removingDraft)
    }

    /// Queues several messages in order: all of them or none.
    /// - Parameter draft: the draft that replaces the removed one.
    public func send(
        _ messages: [(transaction: TransactionID, message: WrittenMessage)], to room: RoomID,
        removingDraft: Bool = false, leaving draft: SavedDraft? = nil
    ) async throws {
        let queue = rooms[room] ?? RoomQueue()
        let new = messages.filter { queue[$0.transaction] == nil && queue.event(of: $0.transaction) == nil }
        let requests = new.map { transaction, message in
            OutboxRequest(id: transaction, room: room, action: .send(message), queuedAt: now())
        }
        guard !requests.isEmpty else { return }
        try await append(requests, in: room, sentDraft: removingDraft ? room : nil, remainingDraft: draft)
    }

    /// Edits a queued or sent message. A queued message that the server does not know of is changed in place. Of several
    /// edits the last one wins: it takes the place of those that the server does not have.
    ///
    /// - Parameter transaction: the transaction ID of the edit, if it has to be sent as an event of its own.
    /// - Throws: ``ChatError/notFound`` if the target is no longer queued: retry with the message ID it was sent as. Also
    ///   if it is about to be deleted.
    public func edit(
        _ target: OutboxTarget, in room: RoomID, to text: WrittenText, transaction: TransactionID
    ) async throws {
        let (target, original) = try resolve(target, in: room)
        guard !isBeingDeleted(target, in: room) else { throw ChatError.notFound }
        let action = OutboxAction.edit(target, text)
        let earlier = rooms[room]?.changes(replacedBy: action) ?? []
        if let original, original.canChange,
            case .send(var message) = original.request.action
        {
            message.text = text
            // Sent after the message, they would undo this.
            let removed = Set(earlier.map(\.request.key))
            return try await replace(original, with: .send(message), in: room, removing: removed)
        }
        var removed = Set(earlier.filter(\.canChange).map(\.request.key))
        if let last = earlier.last, last.canChange {
            removed.remove(last.request.key)
            return try await replace(last, with: action, in: room, removing: removed)
        }
        try await append(
            OutboxRequest(id: transaction, room: room, action: action, queuedAt: now()), removing: removed)
    }

    /// Deletes a message. If the server does not know of it, it is removed from the queue with all its pending changes,
    /// and an upload of its files is canceled.
    ///
    /// - Throws: ``ChatError/notFound`` if the target is no longer queued: retry with the message ID it was sent as.
    public func delete(_ target: OutboxTarget, in room: RoomID, transaction: TransactionID) async throws {
        let (target, original) = try resolve(target, in: room)
        let changes = rooms[room]?.entries.filter { $0.canChange && $0.request.action.target == target } ?? []
        var removed = Set(changes.map(\.request.key))
        if let original, original.canChange || original.upload != nil {
            removed.insert(original.request.key)
            removed.formUnion(rooms[room]?.dependents(of: original.request.id).map(\.request.key) ?? [])
            rooms[room]?.setLeaving(Set(removed.map(\.id)), true)
            if original.isInFlight { rooms[room]?.uploading?.cancel() }
            return try await remove(removed, in: room)
        }
        try await append(
            OutboxRequest(id: transaction, room: room, action: .delete(target), queuedAt: now()), removing: removed)
    }

    /// Adds or removes a reaction. Removing one that is still queued cancels it.
    ///
    /// - Throws: ``ChatError/notFound`` if the target is no longer queued: retry with the message ID it was sent as. Also
    ///   if it is about to be deleted.
    public func react(
        _ text: String, isAdded: Bool, to target: OutboxTarget, in room: RoomID, transaction: TransactionID
    ) async throws {
        let (target, _) = try resolve(target, in: room)
        guard !isBeingDeleted(target, in: room) else { throw ChatError.notFound }
        let action = OutboxAction.react(target, text: text, isGiven: isAdded)
        let earlier = rooms[room]?.changes(replacedBy: action) ?? []
        var removed = Set(earlier.filter(\.canChange).map(\.request.key))
        guard let last = earlier.last, last.canChange else {
            return try await append(
                OutboxRequest(id: transaction, room: room, action: action, queuedAt: now()), removing: removed)
        }
        removed.remove(last.request.key)
        // Of several, some were rejected: canceling the last one would not lead to what is requested.
        guard last.request.action == action || !removed.isEmpty else {
            return try await remove([last.request.key], in: room)
        }
        try await replace(last, with: action, in: room, removing: removed)
    }

    /// Retries a rejected or waiting request immediately; `nil` retries all requests of the room.
    public func retry(_ transaction: TransactionID? = nil, in room: RoomID) async throws {
        try await retry(in: room) { transaction == nil || $0.request.id == transaction }
    }

    /// Retries the rejected requests of a room whose reason satisfies a predicate.
    public func retry(in room: RoomID, rejectedFor isReason: @Sendable (String) -> Bool) async throws {
        try await retry(in: room) { $0.request.failure.map(isReason) ?? false }
    }

    private func retry(in room: RoomID, where isChosen: (RoomQueue.Entry) -> Bool) async throws {
        let chosen = (rooms[room]?.entries ?? []).filter { entry in
            isChosen(entry) && entry.request.action != .unreadable
                // Written after its removal, it would be back after a restart.
                && !entry.isLeaving
        }
        let failed = chosen.filter { $0.request.failure != nil }
        if !failed.isEmpty {
            let requests = failed.map { entry in
                var request = entry.request
                request.failure = nil
                return request
            }
            try await commit(OutboxChange(put: requests))
        }
        for entry in chosen {
            guard var current = rooms[room]?[entry.request.id], !current.isLeaving else { continue }
            current.request.failure = nil
            current.failures = 0
            current.notBefore = .zero
            rooms[room]?[entry.request.id] = current
        }
        changed(room)
    }

    /// Retries all requests in all rooms immediately.
    public func retryAll() async throws {
        for room in Array(rooms.keys) { try await retry(in: room) }
    }

    /// Discards a request; `nil` discards all requests of the room.
    ///
    /// A message that the server may know of is deleted there. Other requests in flight are not discarded.
    /// - Parameter makeID: returns transaction IDs for these deletions.
    public func discard(
        _ transaction: TransactionID? = nil, in room: RoomID, makeID: @Sendable () -> TransactionID
    ) async throws {
        let chosen = (rooms[room]?.entries ?? []).filter { transaction == nil || $0.request.id == transaction }
        // In reverse order, so that the changes to a message are removed before it.
        for entry in chosen.reversed() {
            guard let current = rooms[room]?[entry.request.id] else { continue }
            if case .send = current.request.action {
                try await delete(.queued(current.request.id), in: room, transaction: makeID())
            } else if !current.isInFlight {
                try await remove([current.request.key], in: room)
            }
        }
    }

    /// Removes all requests of a room that was left, and cancels the one in flight.
    public func forget(_ room: RoomID) async throws {
        let removed = Set(rooms[room]?.entries.map(\.request.key) ?? [])
        rooms[room]?.worker?.cancel()
        rooms[room]?.pause?.cancel()
        rooms[room]?.dropAccepted()
        guard !removed.isEmpty else { return changed(room) }
        try await remove(removed, in: room)
    }

    /// Drops accepted messages that the timeline has from elsewhere. For one in flight, the server's response is not
    /// awaited: it is not retained then. One that has failed, although an earlier attempt had reached the server, is
    /// attempted again, which ends it: it would hold up later messages, and is not shown any more.
    public func confirm(_ transactions: Set<TransactionID>, in room: RoomID) {
        if rooms[room]?.confirm(transactions) == true { changed(room) }
    }

    /// - Returns: the target, with its message ID if it has one, and its entry if it is still queued.
    private func resolve(_ target: OutboxTarget, in room: RoomID) throws -> (OutboxTarget, RoomQueue.Entry?) {
        guard case .queued(let id) = target else { return (target, nil) }
        if let event = rooms[room]?.event(of: id) { return (.message(event), nil) }
        guard let entry = rooms[room]?[id] else { throw ChatError.notFound }
        return entry.sentAs.map { (.message($0), nil) } ?? (target, entry)
    }

    /// Whether a deletion is queued, after which the server would reject any change.
    private func isBeingDeleted(_ target: OutboxTarget, in room: RoomID) -> Bool {
        rooms[room]?.entries.contains { $0.request.action == .delete(target) && $0.request.failure == nil } ?? false
    }

    private func append(_ request: OutboxRequest, removing removed: Set<OutboxChange.Key> = []) async throws {
        try await append([request], in: request.room, removing: removed)
    }

    private func append(
        _ requests: [OutboxRequest], in room: RoomID, sentDraft: RoomID? = nil, remainingDraft: SavedDraft? = nil,
        removing removed: Set<OutboxChange.Key> = []
    ) async throws {
        // Append before storing, so that concurrent calls keep their order. Workers skip requests until `isStored` is
        // set.
        var requests = requests
        for index in requests.indices {
            requests[index].wasAttempted = false
            let request = requests[index]
            var entry = RoomQueue.Entry(request: request, isTouched: false, onlineBefore: onlineTime)
            entry.isStored = false
            rooms[room, default: RoomQueue()].append(entry)
        }
        rooms[room]?.setLeaving(Set(removed.map(\.id)), true)
        // Storing what is attempted at once together with that saves a write.
        if isOnline, !isClosed, heldUntil <= elapsed(), rooms[room]?.head?.request.id == requests[0].id {
            requests[0].wasAttempted = true
            set(requests[0], in: room)
        }
        do {
            try await commit(
                OutboxChange(put: requests, removed: removed, sentDraft: sentDraft, remainingDraft: remainingDraft))
        } catch {
            rooms[room]?.remove(Set(requests.map(\.id)))
            await cancelRemoval(removed, in: room)
            throw error
        }
        rooms[room]?.remove(Set(removed.map(\.id)))
        let stored = Set(requests.map(\.id))
        rooms[room]?.updateAll { if stored.contains($0.request.id) { $0.isStored = true } }
        changed(room)
    }

    private func replace(
        _ entry: RoomQueue.Entry, with action: OutboxAction, in room: RoomID, removing removed: Set<OutboxChange.Key>
    ) async throws {
        guard entry.request.action != action || entry.request.failure != nil || !removed.isEmpty else { return }
        let before = entry.request
        var request = before
        request.action = action
        request.failure = nil
        // Update the queue first, so that an attempt starting meanwhile sends the latest version.
        set(request, in: room)
        rooms[room]?.setLeaving(Set(removed.map(\.id)), true)
        do {
            try await commit(OutboxChange(put: [request], removed: removed))
        } catch {
            // The target may have received its message ID meanwhile, and an attempt may have begun.
            var restored = before
            if let current = rooms[room]?[before.id]?.request {
                if let target = current.action.target { restored.action.target = target }
                restored.wasAttempted = current.wasAttempted
            }
            set(restored, in: room)
            if !removed.isEmpty { await cancelRemoval(removed, in: room) }
            throw error
        }
        rooms[room]?.remove(Set(removed.map(\.id)))
        changed(room)
    }

    private func set(_ request: OutboxRequest, in room: RoomID) {
        guard var entry = rooms[room]?[request.id] else { return }
        entry.request = request
        rooms[room]?[request.id] = entry
    }

    private func remove(_ keys: Set<OutboxChange.Key>, in room: RoomID) async throws {
        guard !keys.isEmpty else { return }
        let leaving = Set(keys.map(\.id))
        rooms[room]?.setLeaving(leaving, true)
        do {
            try await commit(OutboxChange(removed: keys))
        } catch {
            await cancelRemoval(keys, in: room)
            throw error
        }
        rooms[room]?.remove(leaving)
        changed(room)
    }

    /// Restores requests that could not be removed from the storage, with targets updated meanwhile.
    private func cancelRemoval(_ keys: Set<OutboxChange.Key>, in room: RoomID) async {
        let ids = Set(keys.map(\.id))
        rooms[room]?.setLeaving(ids, false)
        let entries = rooms[room]?.entries.filter { ids.contains($0.request.id) } ?? []
        if !entries.isEmpty { await note(OutboxChange(put: entries.map(\.request))) }
        changed(room)
    }
}
