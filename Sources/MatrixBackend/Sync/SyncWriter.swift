import ChatCore
import ChatStore
import MatrixCrypto

/// Stores what a sync returned, and publishes what changed.
struct SyncWriter: Sendable {
    let context: AccountContext
    let writer: RoomWriter
    let opener: EventOpener
    let sealed: SealedMessages
    let entered: EnteredRooms
    let status: SyncStatus
    let arrivals: ArrivalFeed
    /// Called with each room that got another gap.
    let didFindGap: @Sendable (RoomID) async -> Void

    private var store: ChatStore { writer.store }
    private var ownUserID: MemberID { context.ownUserID }

    /// Requests the next update and stores it together with its token.
    /// - Parameter willWrite: Called with the update before it is stored.
    func advance(
        _ step: SyncStep, willWrite: @Sendable (SyncUpdate) async throws -> Void
    ) async throws -> SyncStep.Outcome {
        let update = try await step.source.next(after: step.token, wait: step.wait)
        try await willWrite(update)
        // Not canceled along with the loop: the server does not repeat what is stored, so it must all be published.
        try await Task { try await write(update, as: step.setting) }.value
        return update.isCaughtUp ? .caughtUp : .hasMore
    }

    /// Stores an update together with its token, which is the value of a setting.
    /// - Throws: Also if the update is stored, but messages whose keys have arrived could not be decrypted, or
    ///   invitations or missed messages could not be read. The next update makes up for that; the rest is published.
    func write(_ update: SyncUpdate, as setting: String) async throws {
        let isLive = status.hasCaughtUp
        try await writer.serialized {
            var update = try await opener.opened(update)
            arrivals.noteSealed(update.rooms.flatMap(\.sealedMessages), isLive: isLive)
            let areKeysEarlier = arrivals.noteKeys(isFull: update.crypto?.isFull ?? false, isLive: isLive)
            // What happened before the user entered a room would remove it, with what was written there.
            let late = Set(update.rooms.filter { entered.isNewer($0.id) && isOutside($0) }.map(\.id))
            update.rooms.removeAll { late.contains($0.id) }
            entered.addDoubtful(late)
            let count = status.count
            update.rooms = update.rooms.map { writer.sentState.removingEarlier(from: $0, during: count) }
            var batch = SyncBatch(settings: [setting: update.token])
            batch.areInvitationsWhole = update.isWhole && update.isCaughtUp
            batch.beginsInvitations = update.isWhole && !update.isCaughtUp
            batch.endsInvitations = update.isCaughtUp && !isLive
            // With the token, after which the server does not report the changes again.
            if await opener.keys.hasUnnotedMiss {
                batch.settings[AccountEncryption.missedSetting] = AccountEncryption.missedMark
            }
            // Before the rooms, which depend on it.
            context.apply(update, storing: &batch)
            let builder = context.batchBuilder
            let known = try await store.knownRooms(update.rooms.map(builder.request), ownUserID: ownUserID)
            add(update.rooms, to: &batch, known: known, builder)
            let gaps = try await newestGaps(in: update)
            let changes = try await store.apply(batch)
            for room in update.rooms {
                if let latest = room.timeline.last { writer.latestEvents.note(latest.id, in: room.id) }
            }
            for change in changes {
                let gap = gaps[change.room]
                let isBehindGap = if let gap { await isBehindGap(change.room, after: gap) } else { false }
                await publish(change, isBehindGap: isBehindGap)
            }
            // The next sync does not bring the rest again.
            var failure: (any Error)?
            do {
                try await sealed.openArrived { [arrivals] in
                    if isLive {
                        arrivals.publishOpened($0, mayBeEarlier: areKeysEarlier)
                    } else {
                        arrivals.keepOpened($0)
                    }
                }
            } catch {
                failure = error
            }
            do {
                try await publish(
                    silencing(changes.flatMap(\.arrived), of: update, known: known, builder), isLive: isLive,
                    isCaughtUp: update.isCaughtUp)
            } catch {
                failure = failure ?? error
            }
            for room in update.rooms { entered.remove(room.id) }
            do {
                try await writer.publishInvitations(after: batch)
            } catch {
                failure = failure ?? error
            }
            publishStates(of: update, batch, known: known)
            for room in update.rooms where room.gap != nil {
                writer.unsent.withEchoes { $0.restartSearch(in: room.id) }
                await didFindGap(room.id)
            }
            // These concern rooms that the update does not mention.
            let changesAll = batch.directRooms != nil || update.pushRules != nil
            writer.rooms.refresh(changesAll ? .all : .only(Set(batch.rooms.map(\.id) + changes.map(\.room))))
            if let failure { throw failure }
        }
    }

    /// Whether an update says that the user is not in the room.
    private func isOutside(_ update: RoomUpdate) -> Bool {
        update.membership != .joined || ParsedRoomState(ownUserID: ownUserID, state: update.state).isLeft
    }

    /// - Parameter isBehindGap: Whether a gap separates the new events from the known ones.
    private func publish(_ change: RoomChange, isBehindGap: Bool) async {
        if change.isLeft { return await writer.close(change.room) }
        if isBehindGap || change.needsReload { return await writer.reopen(after: change) }
        writer.timelines.publish(change)
        await writer.finish(change.room, members: change.members)
    }

    private func add(
        _ rooms: [RoomUpdate], to batch: inout SyncBatch, known: KnownRooms, _ builder: RoomBatchBuilder
    ) {
        for room in rooms {
            if room.membership == .invited {
                var invitation = Invitation(to: room.id, of: ownUserID, by: room.invitation, at: builder.now)
                if !room.encryption.isEmpty { invitation.isEncrypted = true }
                batch.invitations.append(invitation)
            }
            guard var roomBatch = builder.batch(of: room, known: known) else { continue }
            let events = roomBatch.events
            roomBatch.events = writer.unsent.withEchoes { $0.authored(events, in: room.id) }
            batch.rooms.append(roomBatch)
        }
    }

    /// Marks the arrivals whose notifications are silent according to the push rules.
    private func silencing(
        _ arrived: [MessageArrival], of update: SyncUpdate, known: KnownRooms, _ builder: RoomBatchBuilder
    ) -> [MessageArrival] {
        let rooms = Set(arrived.map(\.message.roomID))
        let audible = update.rooms.filter { rooms.contains($0.id) }
            .reduce(into: Set<MessageID>()) { $0.formUnion(builder.audibleMessages(of: $1, known: known)) }
        return arrived.silenced(except: audible)
    }

    private func publish(_ arrived: [MessageArrival], isLive: Bool, isCaughtUp: Bool) async throws {
        if isLive { return arrivals.publish(arrived) }
        arrivals.keep(arrived)
        guard isCaughtUp else { return }
        let missed = arrivals.caughtUp()
        do {
            arrivals.publish(try await store.unread(among: missed))
        } catch {
            // The next sync publishes them.
            arrivals.keep(missed)
            throw error
        }
    }

    /// Publishes new encryption, and who is typing.
    private func publishStates(of update: SyncUpdate, _ batch: SyncBatch, known: KnownRooms) {
        for room in batch.rooms where room.state?.encryption == .on && known.rooms[room.id]?.state.encryption != .on {
            writer.timelines.publish(.encrypted, in: room.id)
        }
        if update.isWhole { writer.timelines.endTyping() }
        let ignored = context.ignoredUsers
        // The server does not say again who is typing.
        if batch.ignoredUsers != nil { writer.timelines.endTyping(of: ignored) }
        for room in update.rooms {
            guard let typing = room.typing else { continue }
            writer.timelines.setTyping(typing.filter { $0 != ownUserID && !ignored.contains($0) }, in: room.id)
        }
    }

    /// Returns the newest gaps' positions in observed rooms with a limited timeline.
    /// - Returns: A position for each room, `nil` where there is no gap.
    private func newestGaps(in update: SyncUpdate) async throws -> [RoomID: Int64?] {
        var gaps: [RoomID: Int64?] = [:]
        for room in update.rooms where room.gap != nil && writer.timelines.isObserved(room.id) {
            let isKnownRoom = try await store.hasRoom(room.id)
            gaps[room.id] = .some(isKnownRoom ? try await store.lastGap(in: room.id)?.position : nil)
        }
        return gaps
    }

    /// Whether a sync created a gap before the timeline it returned. If this cannot be read, it may have.
    /// - Parameter gap: The newest gap's position before that sync.
    private func isBehindGap(_ room: RoomID, after gap: Int64?) async -> Bool {
        do {
            guard try await store.hasRoom(room), let newest = try await store.lastGap(in: room) else { return false }
            return newest.position > gap ?? .min
        } catch {
            return true
        }
    }
}
