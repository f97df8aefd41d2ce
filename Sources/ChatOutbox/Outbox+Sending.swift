import ChatCore

extension Outbox {
    /// Starts a room's worker if there is work, interrupts the wait of a running one, and drops an empty queue.
    func wake(_ room: RoomID) {
        guard let queue = rooms[room] else { return }
        if queue.isEmpty, queue.worker == nil {
            rooms[room] = nil
        } else if queue.worker != nil {
            queue.pause?.cancel()
        } else if canWork(on: queue) {
            rooms[room]?.worker = Task { await self.work(on: room) }
        }
    }

    private func canWork(on queue: RoomQueue) -> Bool {
        guard isOnline, !isClosed, let head = queue.head else { return false }
        return head.isStored && !head.isLeaving && head.request.failure == nil
    }

    private func work(on room: RoomID) async {
        while !Task.isCancelled, let queue = rooms[room], canWork(on: queue), let head = queue.head {
            let wait = waitingTime(of: head)
            if wait > .zero {
                await pause(room, for: wait)
                if !isDue(head.request.id, in: room) { continue }
            }
            guard await noteAttempt(of: head.request.id, in: room), let entry = startNext(head.request.id, in: room)
            else { continue }
            await attempt(entry.request, in: room)
        }
        rooms[room]?.worker = nil
        // More may have been queued since the check.
        wake(room)
    }

    /// The remaining time until the next attempt; not positive if it is due.
    private func waitingTime(of entry: RoomQueue.Entry) -> Duration {
        max(entry.notBefore, heldUntil) - elapsed()
    }

    private func isDue(_ id: TransactionID, in room: RoomID) -> Bool {
        guard let head = rooms[room]?.head, head.request.id == id else { return false }
        return waitingTime(of: head) <= .zero
    }

    private func pause(_ room: RoomID, for duration: Duration) async {
        let clock = clock
        let pause = Task<Void, Never> {
            // Canceling ends the wait, and the caller checks again what to send.
            try? await clock.sleep(for: duration, tolerance: nil)
        }
        rooms[room]?.pause = pause
        await withTaskCancellationHandler {
            await pause.value
        } onCancel: {
            pause.cancel()
        }
        rooms[room]?.pause = nil
    }

    /// Stores that the first request is about to be attempted: after a restart, one that the server may have must not
    /// be removed or changed here alone.
    /// - Returns: whether that is stored; otherwise, it is not sent before another delay.
    private func noteAttempt(of id: TransactionID, in room: RoomID) async -> Bool {
        guard let queue = rooms[room], canWork(on: queue), var head = queue.head, head.request.id == id else {
            return false
        }
        guard !head.request.wasAttempted else { return true }
        // From here on, it must not be changed in place: that would be stored after this, as not attempted.
        head.isTouched = true
        rooms[room]?[id] = head
        var attempted = head.request
        attempted.wasAttempted = true
        do {
            try await commit(OutboxChange(put: [attempted]))
        } catch {
            land(id, in: room) { entry in
                entry.isTouched = false
                self.delay(&entry)
            }
            return false
        }
        guard var entry = rooms[room]?[id] else { return false }
        entry.request.wasAttempted = true
        rooms[room]?[id] = entry
        return true
    }

    /// - Returns: the first request, now in flight, or `nil` if it may not be sent, or another one is first now.
    private func startNext(_ id: TransactionID, in room: RoomID) -> RoomQueue.Entry? {
        guard let queue = rooms[room], canWork(on: queue), var head = queue.head, head.request.id == id else {
            return nil
        }
        head.isInFlight = true
        head.isTouched = true
        rooms[room]?[head.request.id] = head
        publish(room)
        return head
    }

    private func attempt(_ request: OutboxRequest, in room: RoomID) async {
        do {
            var ready = try await uploadFiles(of: request)
            ready.wasAttempted = rooms[room]?[request.id]?.wasAttemptedBefore ?? true
            let message = try await backend.deliver(ready)
            await finish(request.id, as: message, in: room)
        } catch is CancellationError where isCanceled(request) {
            land(request.id, in: room) { _ in }
        } catch DeliveryError.rejected(let reason) {
            await reject(request.id, because: reason, in: room)
        } catch DeliveryError.busy(let retryAfter) {
            let retryDelay = max(retryAfter, .zero)
            // Jitter of up to a second, added to the delay that the server requires.
            heldUntil = max(heldUntil, elapsed() + retryDelay + .seconds(draw()))
            // A server that requires none must not be asked again and again at once.
            land(request.id, in: room) { self.delay(&$0) }
        } catch {
            // Other errors leave the outcome unknown, so retry.
            land(request.id, in: room) { self.delay(&$0) }
        }
    }

    private func delay(_ entry: inout RoomQueue.Entry) {
        entry.failures += 1
        entry.notBefore = elapsed() + backOff.delay(after: entry.failures, draw: draw())
    }

    /// Whether the outbox itself has canceled the attempt. A backend that is closing may report the same, and must not be
    /// asked again at once: neither side waits for anything then, and the attempts would keep a thread for good.
    private func isCanceled(_ request: OutboxRequest) -> Bool {
        Task.isCancelled || rooms[request.room]?[request.id]?.isLeaving != false
    }

    private func reject(_ id: TransactionID, because reason: String, in room: RoomID) async {
        guard let entry = rooms[room]?[id], !entry.isLeaving else { return land(id, in: room) { _ in } }
        // An earlier attempt had reached the server, as the next one finds.
        guard !entry.isConfirmed else { return land(id, in: room) { self.delay(&$0) } }
        // First in the queue: a deletion requested while it is stored has to find that the server does not have it.
        land(id, in: room) { $0.request.failure = reason }
        if let rejected = rooms[room]?[id]?.request { await note(OutboxChange(put: [rejected])) }
        await removeDeletedRejections(in: room)
    }

    /// Removes rejected messages that the user has deleted meanwhile. They would block the room, and the deletion, which
    /// waits behind them, would never be sent.
    func removeDeletedRejections(in room: RoomID) async {
        let keys = rooms[room]?.deletedRejections ?? []
        guard !keys.isEmpty else { return }
        let ids = Set(keys.map(\.id))
        rooms[room]?.setLeaving(ids, true)
        await note(OutboxChange(removed: keys))
        rooms[room]?.remove(ids)
        publish(room)
    }

    /// Uploads the remaining files one by one, storing each URI.
    /// - Throws: `CancellationError` if the message is deleted meanwhile.
    private func uploadFiles(of request: OutboxRequest) async throws -> OutboxRequest {
        guard case .send(var message) = request.action else { return request }
        var request = request
        for index in message.files.indices where message.files[index].isOnlyHere {
            let uri = try await upload(message.files[index], of: request)
            guard var entry = rooms[request.room]?[request.id], !entry.isLeaving else { throw CancellationError() }
            message.files[index].uri = uri
            request.action = .send(message)
            entry.request = request
            entry.uploadedFraction = 0
            rooms[request.room]?[request.id] = entry
            publish(request.room)
            await note(OutboxChange(put: [request]))
        }
        return request
    }

    private func upload(_ file: MediaReference, of request: OutboxRequest) async throws -> String {
        let (id, room) = (request.id, request.room)
        guard rooms[room]?[id]?.isLeaving == false else { throw CancellationError() }
        let upload = Task { [backend] in
            try await backend.upload(file, of: request) { [weak self] fraction in
                Task { await self?.note(fraction, of: file, id, in: room) }
            }
        }
        rooms[room]?.uploading = upload
        defer { rooms[room]?.uploading = nil }
        return try await withTaskCancellationHandler {
            try await upload.value
        } onCancel: {
            upload.cancel()
        }
    }

    /// Ignores progress that arrives late or goes backwards.
    private func note(_ fraction: Double, of file: MediaReference, _ id: TransactionID, in room: RoomID) {
        guard var entry = rooms[room]?[id], case .send(let message) = entry.request.action,
            message.files.first(where: \.isOnlyHere) == file, fraction > entry.uploadedFraction
        else { return }
        entry.uploadedFraction = min(fraction, 1)
        rooms[room]?[id] = entry
        publish(room)
    }

    /// Removes an accepted request from the storage and points queued changes at its ID. Changes requested while this
    /// is being stored find the ID in ``RoomQueue/Entry/sentAs``.
    ///
    /// Rejected changes that it replaces go with it: a retry would apply them over it.
    private func finish(_ id: TransactionID, as message: MessageID?, in room: RoomID) async {
        let replaced = rooms[room]?.changes(inFrontOf: id) ?? []
        rooms[room]?.setLeaving(Set(replaced.map(\.id)), true)
        var change = OutboxChange(removed: replaced.union([OutboxChange.Key(room: room, id: id)]))
        if let message {
            rooms[room]?.updateAll { entry in
                if entry.request.id == id { entry.sentAs = message }
                guard entry.request.action.target == .queued(id) else { return }
                entry.request.action.target = .message(message)
                if !entry.isLeaving { change.put.append(entry.request) }
            }
        }
        await note(change)
        if retainsAccepted { rooms[room]?.retain(id, sentAs: message) }
        rooms[room]?.remove(Set(change.removed.map(\.id)))
        publish(room)
    }

    private func land(_ id: TransactionID, in room: RoomID, _ body: (inout RoomQueue.Entry) -> Void) {
        guard var entry = rooms[room]?[id] else { return }
        entry.isInFlight = false
        entry.uploadedFraction = 0
        body(&entry)
        rooms[room]?[id] = entry
        publish(room)
    }

    /// Marks requests that are overdue, and schedules the next check.
    func scheduleOverdueCheck() {
        marking?.cancel()
        marking = nil
        guard isOnline, !isClosed else { return }
        let online = onlineTime
        var soonest: Duration?
        for (room, queue) in rooms {
            var hasNewOverdue = false
            // The entries are sorted by the time they were queued.
            for entry in queue.entries where !entry.isOverdue {
                let due = entry.onlineBefore + Self.overdueAfter
                if due > online {
                    soonest = min(soonest ?? due, due)
                    break
                }
                var entry = entry
                entry.isOverdue = true
                rooms[room]?[entry.request.id] = entry
                hasNewOverdue = true
            }
            if hasNewOverdue { publish(room) }
        }
        guard let soonest else { return }
        let clock = clock
        marking = Task { [weak self] in
            do { try await clock.sleep(for: soonest - online, tolerance: nil) } catch { return }
            await self?.scheduleOverdueCheck()
        }
    }
}
