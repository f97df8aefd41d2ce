import ChatCore
import ChatOutbox
import ChatStore
import Foundation
import JSONReading

extension MatrixBackend {
    private static let wait = Duration.seconds(30)

    /// Syncs until the backend is closed or the session ends.
    func runSync(hasSlidingSync: Bool) async {
        var isSliding = hasSlidingSync
        var failures = 0
        var window = SyncWindow()
        let backOff = BackOff()
        while !Task.isCancelled {
            let source: any SyncSource =
                isSliding ? SlidingSync(client: client, window: window) : PlainSync(client: client, window: window)
            let setting = isSliding ? "matrix.sync.sliding" : "matrix.sync.plain"
            do {
                let token = try await store.setting(setting).flatMap { $0.isEmpty ? nil : $0 }
                if token == nil { try await noteStoredRooms() }
                syncs += 1
                let update = try await source.next(after: token, wait: connection == .online ? Self.wait : .zero)
                try await apply(update, as: setting)
                // A sync that a restart has canceled must not report that it has caught up.
                try Task.checkCancellation()
                if update.isCaughtUp {
                    syncStatus.hasCaughtUp = true
                    await pruneLeftRooms()
                    countOn()
                }
                await findMissing(after: syncs)
                try Task.checkCancellation()
                failures = 0
                if window.grow() { await narrow(source, with: window, as: setting) }
                await setConnection(.online)
                resendReadMarkers()
            } catch is CancellationError {
                return
            } catch MatrixError.signedOut(let isSoft) {
                return await setConnection(.signedOut(isSoft: isSoft))
            } catch MatrixError.rejected(400, _, _) {
                // The server does not know the sync token any more: start an initial sync over the stored data.
                failures += 1
                syncStatus.hasCaughtUp = false
                try? await store.setSetting("", for: setting)
                if failures > 1 { await pause(backOff.delay(after: failures, draw: .random(in: 0...1))) }
            } catch MatrixError.rejected(404, _, _) where isSliding {
                syncStatus.hasCaughtUp = false
                isSliding = false
            } catch {
                failures += 1
                syncStatus.hasCaughtUp = false
                var attempts = failures
                if Self.isTooMuch(error) {
                    let isLess = window.shrink()
                    let isNarrower = await narrow(source, with: window, as: setting)
                    if isLess || isNarrower { failures = 1 }
                    attempts = max(failures, window.falls)
                }
                // A single failed request does not mean being offline.
                if case MatrixError.untrusted(let problem) = error {
                    await setConnection(.untrusted(problem))
                } else if failures > 1 {
                    await setConnection(.offline)
                }
                var delay = backOff.delay(after: attempts, draw: .random(in: 0...1))
                if case MatrixError.busy(let retryAfter) = error { delay = max(delay, retryAfter) }
                await pause(delay)
            }
        }
    }

    /// Whether a smaller request may succeed: the response was too large, or contained something that cannot be parsed.
    private static func isTooMuch(_ error: any Error) -> Bool {
        switch error {
        case MatrixError.tooLarge, MatrixError.malformed: true
        default: false
        }
    }

    /// Resets the token's room range to the window's first rooms.
    /// - Returns: Whether the range was larger before.
    @discardableResult
    private func narrow(_ source: any SyncSource, with window: SyncWindow, as setting: String) async -> Bool {
        guard let token = try? await store.setting(setting), !token.isEmpty else { return false }
        let narrowed = source.narrowed(token, to: window)
        guard narrowed != token else { return false }
        syncStatus.hasCaughtUp = false
        // The server does not report rooms that are left while outside the range.
        try? await noteStoredRooms()
        try? await store.setSetting(narrowed, for: setting)
        return true
    }

    private func pause(_ duration: Duration) async { try? await clock.sleep(for: duration, tolerance: nil) }

    func setConnection(_ new: Connection) async {
        guard new != connection, !isClosed else { return }
        connection = new
        connections.yield(new)
        await outbox.setOnline(new == .online || new == .connecting)
        if new == .online { hasUnsentReadMarkers = true }
    }

    /// Stores an update together with its token, and publishes the changes.
    private func apply(_ update: SyncUpdate, as setting: String) async throws {
        try await serialized {
            var batch = SyncBatch(settings: [setting: update.token])
            apply(update, into: &batch)
            for room in update.rooms {
                if room.membership == .invited {
                    try await invitation(room, into: &batch)
                } else if let room = try await self.batch(of: room) {
                    batch.rooms.append(room)
                }
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
            for room in batch.rooms where room.settings[MatrixOutboxBackend.encryptionSetting] == "1" {
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

    /// Applies account data. Call it before handling the rooms, which depend on it.
    private func apply(_ update: SyncUpdate, into batch: inout SyncBatch) {
        batch.areInvitationsWhole = update.isWhole
        // Ignore content that cannot be encoded, such as a number out of range: failing would repeat with each sync.
        if let rules = update.pushRules, let text = rules.text {
            batch.settings[PushRules.setting] = text
            pushRules = PushRules(rules)
        }
        if let direct = update.direct, let text = direct.text {
            batch.settings[DirectRooms.setting] = text
            directRooms = DirectRooms(direct)
            batch.directRooms = Set(directRooms.partners.keys)
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

    /// - Returns: `nil` if the update concerns a space or an unknown room without content.
    func batch(of update: RoomUpdate) async throws -> RoomBatch? {
        let parsedState = try await state(of: update)
        var batch = RoomBatch(id: update.id, createdAt: parsedState.creation?.at ?? now())
        if update.membership == .left || parsedState.isLeft {
            batch.isLeft = true
            return batch
        }
        // Propagate read errors: treating the room as unknown would drop its encryption flag.
        let isKnownRoom = try await store.hasRoom(update.id)
        // Spaces have no timeline. Earlier versions stored them as rooms; later updates do not repeat the type, so
        // record it.
        let space = "matrix.space." + update.id.rawValue
        if parsedState.isSpace {
            try await store.setSetting("1", for: space)
            batch.isLeft = true
            return isKnownRoom ? batch : nil
        }
        if !isKnownRoom, try await store.setting(space) != nil { return nil }
        // Ignore extension data of a room that was not returned itself.
        guard isKnownRoom || !update.state.isEmpty || !update.timeline.isEmpty else { return nil }
        func storedSetting(_ name: String) async throws -> String? {
            isKnownRoom ? try await store.setting(name, of: update.id) : nil
        }
        batch.isDirect = !isKnownRoom && directRooms.partners[update.id] != nil
        batch.members = parsedState.members
        batch.settings = parsedState.settings
        batch.origins = parsedState.origins
        batch.unnamed = parsedState.unnamed
        if parsedState.settings[MatrixOutboxBackend.encryptionSetting] == nil,
            try await storedSetting(MatrixOutboxBackend.encryptionSetting) == nil
        {
            batch.settings[MatrixOutboxBackend.encryptionSetting] = "0"
        }
        if !isKnownRoom, !parsedState.members.contains(where: { $0.id == ownUserID }) {
            batch.members.append(Member(id: ownUserID, displayName: ownUserID.rawValue, kind: .own))
        }
        let explicit = parsedState.name == nil ? try await storedSetting(ParsedRoomState.nameSetting) : parsedState.name
        let alias = parsedState.alias == nil ? try await storedSetting(ParsedRoomState.aliasSetting) : parsedState.alias
        let name = [explicit, alias].compactMap(\.self).first { !$0.isEmpty }
        let isOtherwise = !isKnownRoom || parsedState.name != nil || parsedState.alias != nil
        if isOtherwise || name == nil && (update.heroes != nil || parsedState.hasMemberChanges) {
            batch.name =
                if let name { name } else { try await self.name(of: update, parsedState, isKnownRoom: isKnownRoom) }
        }
        if let heroes = update.heroes {
            batch.settings[NamelessRoom.heroesSetting] = heroes.map(\.id.rawValue).joined(separator: " ")
        }
        let avatar = RoomAvatar(
            storedURI: try await storedSetting(RoomAvatar.uriSetting),
            hero: try await storedSetting(RoomAvatar.heroSetting))
        batch.avatar = avatar.change(by: update, parsedState, ownUserID: ownUserID, &batch.settings)
        var creation = parsedState.creation
        if creation == nil { creation = RoomCreation(try await storedSetting(ParsedRoomState.creationSetting)) }
        if let count = update.joinedCount { batch.settings[ParsedRoomState.joinedCountSetting] = String(count) }
        let me = parsedState.members.first { $0.id == ownUserID }?.displayName
        let rules = (
            pushRules, try await pushRoom(update.id, isKnownRoom: isKnownRoom, name: me, newSettings: batch.settings)
        )
        let events = EventParser(ownUserID: ownUserID, translator: translator, rules: rules, creation: creation)
        batch.events = localEchoes.authored(events.timeline(update.timeline), in: update.id)
        batch.gap = update.gap
        batch.receipts = update.receipts.filter { $0.member != ownUserID }
        batch.fullyReadMarkers =
            update.receipts.filter { $0.member == ownUserID }.map(\.message) + [update.fullyRead].compactMap(\.self)
        batch.counted = update.counted
        return batch
    }

    /// Returns what push rules need to know of a room.
    /// - Parameter newSettings: Settings that are about to be stored.
    private func pushRoom(
        _ id: RoomID, isKnownRoom: Bool, name: String?, newSettings: [String: String?]
    ) async throws -> PushRoom {
        func value(_ setting: String) async throws -> String? {
            if let value = newSettings[setting] { return value }
            return isKnownRoom ? try await store.setting(setting, of: id) : nil
        }
        var name = name
        if name == nil, isKnownRoom { name = try await store.member(ownUserID, of: id)?.displayName }
        return PushRoom(
            id: id, ownUserID: ownUserID, ownDisplayName: name == ownUserID.rawValue ? nil : name,
            memberCount: try await value(ParsedRoomState.joinedCountSetting).flatMap { Int($0) },
            powerLevels: try await value(ParsedRoomState.powerLevelsSetting).flatMap {
                try? JSONValue(parsing: Data($0.utf8))
            })
    }

    /// Returns `nil` if the user is not in the room.
    func pushRoom(_ id: RoomID) async throws -> PushRoom? {
        guard try await store.member(ownUserID, of: id) != nil else { return nil }
        return try await pushRoom(id, isKnownRoom: true, name: nil, newSettings: [:])
    }

    /// Returns the name of a room with neither a name nor an alias.
    private func name(of update: RoomUpdate, _ parsedState: ParsedRoomState, isKnownRoom: Bool) async throws -> String {
        let heroes = isKnownRoom ? try await store.setting(NamelessRoom.heroesSetting, of: update.id) : nil
        let members = isKnownRoom ? try await store.members(of: update.id) : []
        let unnamed = members.filter { parsedState.unnamed.contains($0.id) }.map { member in
            var member = member
            member.displayName = member.id.rawValue
            return member
        }
        let room = NamelessRoom(ownUserID: ownUserID, storedMembers: members, changed: unnamed + parsedState.members)
        let storedHeroes = (heroes ?? "").split(separator: " ").map { MemberID(String($0)) }
        return room.name(heroes: update.heroes, storedHeroes: storedHeroes) ?? translator("Empty room")
    }
}
