import ChatCore

extension Outbox {
    /// Sees that someone works on a room that has something to do, and ends a wait that has lost its reason.
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
            guard let entry = startNext(in: room) else { continue }
            await attempt(entry.request, in: room)
        }
        rooms[room]?.worker = nil
        // Something may have been queued since the last look.
        wake(room)
    }

    /// How long the next attempt is still to wait. The time of a back-off begins when it is asked for the first time.
    private func waitingTime(of entry: RoomQueue.Entry) -> Duration {
        max(entry.notBefore, heldUntil) - elapsed()
    }

    private func isDue(_ id: TransactionID, in room: RoomID) -> Bool {
        guard let head = rooms[room]?.head, head.request.id == id else { return false }
        return waitingTime(of: head) <= .zero
    }

    private func pause(_ room: RoomID, for duration: Duration) async {
        let clock = clock
        let pause = Task<Void, Never> { try? await clock.sleep(for: duration, tolerance: nil) }
        rooms[room]?.pause = pause
        await withTaskCancellationHandler {
            await pause.value
        } onCancel: {
            pause.cancel()
        }
        rooms[room]?.pause = nil
    }

    /// - Returns: the first of the room, from now on in flight; nil if it may not be.
    private func startNext(in room: RoomID) -> RoomQueue.Entry? {
        guard let queue = rooms[room], canWork(on: queue), var head = queue.head else { return nil }
        head.isInFlight = true
        head.isTouched = true
        rooms[room]?[head.request.id] = head
        publish(room)
        return head
    }

    private func attempt(_ request: OutboxRequest, in room: RoomID) async {
        do {
            let ready = try await uploadFiles(of: request)
            let message = try await backend.deliver(ready)
            await finish(request.id, as: message, in: room)
        } catch is CancellationError {
            land(request.id, in: room) { _ in }
        } catch DeliveryError.rejected(let reason) {
            var rejected = rooms[room]?[request.id]?.request ?? request
            rejected.failure = reason
            await note(OutboxChange(put: [rejected]))
            land(request.id, in: room) { $0.request.failure = reason }
        } catch DeliveryError.busy(let retryAfter) {
            let retryDelay = max(retryAfter, .zero)
            // A little later, and not all at once, but never earlier than asked.
            heldUntil = max(heldUntil, elapsed() + retryDelay + .seconds(draw()))
            land(request.id, in: room) { $0.failures += 1 }
        } catch {
            // Whatever else a backend throws: nothing is known of the request.
            land(request.id, in: room) { entry in
                entry.failures += 1
                entry.notBefore = self.elapsed() + self.backOff.delay(after: entry.failures, draw: self.draw())
            }
        }
    }

    /// Uploads what is not uploaded yet, one file after another, and writes each down.
    /// - Throws: `CancellationError` if the message is taken back meanwhile.
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

    /// What is told late, or twice, changes nothing.
    private func note(_ fraction: Double, of file: MediaReference, _ id: TransactionID, in room: RoomID) {
        guard var entry = rooms[room]?[id], case .send(let message) = entry.request.action,
            message.files.first(where: \.isOnlyHere) == file, fraction > entry.uploadedFraction
        else { return }
        entry.uploadedFraction = min(fraction, 1)
        rooms[room]?[id] = entry
        publish(room)
    }

    /// The server has it: what changes it can go out now. What is asked for while that is written down is told the
    /// message by ``RoomQueue/Entry/sentAs``.
    private func finish(_ id: TransactionID, as message: MessageID?, in room: RoomID) async {
        var change = OutboxChange(removed: [OutboxChange.Key(room: room, id: id)])
        if let message {
            rooms[room]?.updateAll { entry in
                if entry.request.id == id { entry.sentAs = message }
                guard entry.request.action.target == .queued(id) else { return }
                entry.request.action.target = .message(message)
                if !entry.isLeaving { change.put.append(entry.request) }
            }
        }
        await note(change)
        rooms[room]?.remove([id])
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

    /// Marks what was online for too long without success, and waits for the next to come to that.
    func scheduleOverdueCheck() {
        marking?.cancel()
        marking = nil
        guard isOnline, !isClosed else { return }
        let online = onlineTime
        var soonest: Duration?
        for (room, queue) in rooms {
            var hasNewOverdue = false
            // In order: whoever comes later was queued later.
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
            guard (try? await clock.sleep(for: soonest - online, tolerance: nil)) != nil else { return }
            await self?.scheduleOverdueCheck()
        }
    }
}
