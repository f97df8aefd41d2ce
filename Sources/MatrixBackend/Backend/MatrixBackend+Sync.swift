import ChatCore
import ChatOutbox
import ChatStore
import Foundation
import JSONReading

extension MatrixBackend {
    /// Makes the loop that keeps the store current. It holds the backend weakly.
    func makeSyncLoop(hasSlidingSync: Bool) -> SyncLoop {
        SyncLoop(
            client: client, store: store, clock: clock, status: syncStatus, hasSlidingSync: hasSlidingSync,
            handlers: SyncLoop.Handlers(
                apply: { [weak self] update, setting in try await self?.apply(update, as: setting) },
                willStartOver: { [weak self] in try await self?.noteStoredRooms() },
                didApply: { [weak self] isCaughtUp, number in
                    await self?.didSync(isCaughtUp: isCaughtUp, number: number)
                },
                report: { [weak self] connection in await self?.didConnect(connection) }))
    }

    private func didSync(isCaughtUp: Bool, number: Int) async {
        if isCaughtUp {
            await pruneLeftRooms()
            countOn()
        }
        await findMissing(after: number)
    }

    private func didConnect(_ new: Connection) async {
        // A loop that was stopped says nothing of the present connection.
        guard !Task.isCancelled else { return }
        await setConnection(new)
        guard new == .online else { return }
        Task { [readMarkers] in await readMarkers.sendUnsent() }
    }

    func setConnection(_ new: Connection) async {
        guard new != connection, !isClosed else { return }
        connection = new
        connections.yield(new)
        await outbox.setOnline(new == .online || new == .connecting)
        if new == .online { await readMarkers.noteInterruption() }
    }

    /// Stores an update together with its token, and publishes the changes.
    private func apply(_ update: SyncUpdate, as setting: String) async throws {
        try await serialized {
            var batch = SyncBatch(settings: [setting: update.token])
            batch.areInvitationsWhole = update.isWhole
            // Before the rooms, which depend on it.
            accountData.apply(update, storing: &batch)
            let builder = batchBuilder
            let known = try await store.knownRooms(update.rooms.map(builder.request), ownUserID: ownUserID)
            for room in update.rooms {
                if room.membership == .invited {
                    batch.invitations.append(
                        Invitation(to: room.id, of: ownUserID, by: room.invitation, at: builder.now))
                }
                guard var roomBatch = builder.batch(of: room, known: known) else { continue }
                roomBatch.events = localEchoes.authored(roomBatch.events, in: room.id)
                batch.rooms.append(roomBatch)
            }
            let gaps = try await newestGaps(in: update)
            let roomChanges = try await store.apply(batch)
            for roomChange in roomChanges {
                let gap = gaps[roomChange.room]
                let isBehindGap = if let gap { try await isBehindGap(roomChange.room, after: gap) } else { false }
                await publish(roomChange, isBehindGap: isBehindGap)
            }
            for room in update.rooms { entered.remove(room.id) }
            try await invitationsChanged(by: batch)
            for room in batch.rooms where room.state?.encryption == .on && known.rooms[room.id]?.state.encryption != .on
            {
                publish(.encrypted, in: room.id)
            }
            for room in update.rooms {
                if let typing = room.typing { publish(.typing(typing.filter { $0 != ownUserID }), in: room.id) }
            }
            for room in update.rooms where room.gap != nil {
                localEchoes.restartSearch(in: room.id)
                counter.restart(in: room.id)
            }
            if !roomChanges.isEmpty || batch.directRooms != nil { roomsChanged() }
        }
    }

    /// Returns the newest gaps' positions in observed rooms with a limited timeline.
    /// - Returns: A position for each room, `nil` where there is no gap.
    private func newestGaps(in update: SyncUpdate) async throws -> [RoomID: Int64?] {
        var gaps: [RoomID: Int64?] = [:]
        for room in update.rooms where room.gap != nil && timelines[room.id] != nil {
            let isKnownRoom = try await store.hasRoom(room.id)
            gaps[room.id] = .some(isKnownRoom ? try await store.gaps(in: room.id).last?.position : nil)
        }
        return gaps
    }

    /// Whether a sync created a gap before the timeline it returned.
    /// - Parameter gap: The newest gap's position before that sync.
    private func isBehindGap(_ room: RoomID, after gap: Int64?) async throws -> Bool {
        guard try await store.hasRoom(room), let newest = try await store.gaps(in: room).last else { return false }
        return newest.position > gap ?? .min
    }

    /// - Parameter isBehindGap: Whether a gap separates the new events from the known ones. Observers hold a contiguous
    ///   range and have to reload.
    func publish(_ roomChange: RoomChange, isBehindGap: Bool = false) async {
        let room = roomChange.room
        if roomChange.isLeft {
            localEchoes.forget(room)
            changes.forget(room)
            // The store has deleted them with the room; what is left in memory fails when it is sent.
            try? await outbox.forget(room)
            publish(.closed, in: room)
            timelines[room]?.finish()
            timelines[room] = nil
            names[room] = nil
            return
        }
        if let members = roomChange.members {
            publish(members, in: room)
            if let me = members.first(where: { $0.id == ownUserID }), !me.hasLeft {
                ownDisplayNames.yield(me.displayName)
            }
        }
        let removed = localEchoes.resolve(roomChange.changed, in: room)
        if !removed.isEmpty { publish(.removed(removed), in: room) }
        if isBehindGap {
            await reloadTimeline(room)
        } else if !roomChange.changed.isEmpty {
            publish(.changed(roomChange.changed), in: room)
        }
    }

    /// Builds batches by the account data as it is now.
    var batchBuilder: RoomBatchBuilder {
        RoomBatchBuilder(ownUserID: ownUserID, translator: translator, accountData: accountData, now: now())
    }
}
