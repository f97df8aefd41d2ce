public import ChatCore
public import Composer

extension Outbox {
    /// Queues a message. Once this returns it will be sent, whatever happens to this process.
    ///
    /// - Parameters:
    ///   - transaction: queued or sent before, it is not queued again.
    ///   - removingDraft: together with the room's draft, which became this message.
    /// - Throws: ``ChatError`` if it could not be stored: it is then not queued.
    public func send(
        _ message: WrittenMessage, transaction: TransactionID, to room: RoomID, removingDraft: Bool = false
    ) async throws {
        try await send([(transaction, message)], to: room, removingDraft: removingDraft)
    }

    /// The same with several, in their order: all of them are queued, or none.
    /// - Parameter draft: takes the place of the one that is removed.
    public func send(
        _ messages: [(transaction: TransactionID, message: WrittenMessage)], to room: RoomID,
        removingDraft: Bool = false, leaving draft: SavedDraft? = nil
    ) async throws {
        let requests = messages.filter { rooms[room]?[$0.transaction] == nil }.map { transaction, message in
            OutboxRequest(id: transaction, room: room, action: .send(message), queuedAt: now())
        }
        guard !requests.isEmpty else { return }
        try await append(requests, in: room, sentDraft: removingDraft ? room : nil, remainingDraft: draft)
    }

    /// Changes the text of a message that is on its way, or that the server has.
    ///
    /// - Parameter transaction: of the edit, should it have to be sent by itself.
    /// - Throws: ``ChatError/notFound`` if the target was queued and is no longer: look for the message it became.
    public func edit(
        _ target: OutboxTarget, in room: RoomID, to text: WrittenText, transaction: TransactionID
    ) async throws {
        let (target, original) = try resolve(target, in: room)
        if let original, original.canChange,
            case .send(var message) = original.request.action
        {
            message.text = text
            return try await replace(original, with: .send(message), in: room)
        }
        let action = OutboxAction.edit(target, text)
        let earlier = rooms[room]?.changeable(for: target) { if case .edit = $0 { true } else { false } }
        if let earlier { return try await replace(earlier, with: action, in: room) }
        try await append(OutboxRequest(id: transaction, room: room, action: action, queuedAt: now()))
    }

    /// Deletes a message. One that the server has not seen is just not sent, with all that was to be changed of it; an
    /// upload of its files ends.
    ///
    /// - Throws: ``ChatError/notFound`` if the target was queued and is no longer: look for the message it became.
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

    /// Gives a reaction to a message, or takes it back. What was not sent yet and is taken back is just not sent.
    ///
    /// - Throws: ``ChatError/notFound`` if the target was queued and is no longer: look for the message it became.
    public func react(
        _ text: String, isAdded: Bool, to target: OutboxTarget, in room: RoomID, transaction: TransactionID
    ) async throws {
        let (target, _) = try resolve(target, in: room)
        let earlier = rooms[room]?.changeable(for: target) { action in
            if case .react(_, text, _) = action { true } else { false }
        }
        let action = OutboxAction.react(target, text: text, isGiven: isAdded)
        if let earlier {
            if earlier.request.action == action { return try await replace(earlier, with: action, in: room) }
            return try await remove([earlier.request.key], in: room)
        }
        try await append(OutboxRequest(id: transaction, room: room, action: action, queuedAt: now()))
    }

    /// Tries again what the server refused, or what waits for its next attempt; nil for all of the room.
    public func retry(_ transaction: TransactionID? = nil, in room: RoomID) async throws {
        let chosen = (rooms[room]?.entries ?? []).filter { entry in
            (transaction == nil || entry.request.id == transaction) && entry.request.action != .unreadable
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
            guard var current = rooms[room]?[entry.request.id] else { continue }
            current.request.failure = nil
            current.failures = 0
            current.notBefore = .zero
            rooms[room]?[entry.request.id] = current
        }
        changed(room)
    }

    /// Tries again all that waits, in all rooms.
    public func retryAll() async throws {
        for room in Array(rooms.keys) { try await retry(in: room) }
    }

    /// Gives up what is on its way; nil for all of the room.
    ///
    /// A message that the server may have is deleted there. What is in flight otherwise is not taken back.
    /// - Parameter makeID: for the deletions that this takes.
    public func discard(
        _ transaction: TransactionID? = nil, in room: RoomID, makeID: @Sendable () -> TransactionID
    ) async throws {
        let chosen = (rooms[room]?.entries ?? []).filter { transaction == nil || $0.request.id == transaction }
        // From the end: what changes a message goes before the message itself.
        for entry in chosen.reversed() {
            guard let current = rooms[room]?[entry.request.id] else { continue }
            if case .send = current.request.action {
                try await delete(.queued(current.request.id), in: room, transaction: makeID())
            } else if !current.isInFlight {
                try await remove([current.request.key], in: room)
            }
        }
    }

    /// Forgets a room that was left. What is in flight there is cancelled.
    public func forget(_ room: RoomID) async throws {
        let removed = Set(rooms[room]?.entries.map(\.request.key) ?? [])
        rooms[room]?.worker?.cancel()
        rooms[room]?.pause?.cancel()
        try await remove(removed, in: room)
    }

    /// - Returns: the target as it is to be asked for, and its entry if it is still on its way.
    private func resolve(_ target: OutboxTarget, in room: RoomID) throws -> (OutboxTarget, RoomQueue.Entry?) {
        guard case .queued(let id) = target else { return (target, nil) }
        guard let entry = rooms[room]?[id] else { throw ChatError.notFound }
        return entry.sentAs.map { (.message($0), nil) } ?? (target, entry)
    }

    private func append(_ request: OutboxRequest, removing removed: Set<OutboxChange.Key> = []) async throws {
        try await append([request], in: request.room, removing: removed)
    }

    private func append(
        _ requests: [OutboxRequest], in room: RoomID, sentDraft: RoomID? = nil, remainingDraft: SavedDraft? = nil,
        removing removed: Set<OutboxChange.Key> = []
    ) async throws {
        // In the queue before it is written, so that calls that come in between find their order; no worker takes it
        // before `isStored`.
        for request in requests {
            var entry = RoomQueue.Entry(request: request, isTouched: false, onlineBefore: onlineTime)
            entry.isStored = false
            rooms[room, default: RoomQueue()].append(entry)
        }
        rooms[room]?.setLeaving(Set(removed.map(\.id)), true)
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

    private func replace(_ entry: RoomQueue.Entry, with action: OutboxAction, in room: RoomID) async throws {
        guard entry.request.action != action || entry.request.failure != nil else { return }
        let before = entry.request
        var request = before
        request.action = action
        request.failure = nil
        // In the queue at once, so that an attempt that begins meanwhile sends what was asked for last.
        set(request, in: room)
        do {
            try await commit(OutboxChange(put: [request]))
        } catch {
            // The message may have got its identifier meanwhile.
            var restored = before
            if let target = rooms[room]?[before.id]?.request.action.target { restored.action.target = target }
            set(restored, in: room)
            throw error
        }
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

    /// What could not be taken from the disk stays, with the targets that it got meanwhile.
    private func cancelRemoval(_ keys: Set<OutboxChange.Key>, in room: RoomID) async {
        let ids = Set(keys.map(\.id))
        rooms[room]?.setLeaving(ids, false)
        let entries = rooms[room]?.entries.filter { ids.contains($0.request.id) } ?? []
        if !entries.isEmpty { await note(OutboxChange(put: entries.map(\.request))) }
        changed(room)
    }
}
