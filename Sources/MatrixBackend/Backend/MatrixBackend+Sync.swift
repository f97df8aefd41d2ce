import ChatCore
import ChatOutbox
import ChatStore
import Foundation
import JSONReading

extension MatrixBackend {
    private static let wait = Duration.seconds(30)

    /// Follows the server until the backend is closed or the session ends.
    func follow(hasSlidingSync: Bool) async {
        var isSliding = hasSlidingSync
        var failures = 0
        var portion = SyncPortion()
        let backOff = BackOff()
        while !Task.isCancelled {
            let source: any SyncSource =
                isSliding ? SlidingSync(client: client, portion: portion) : PlainSync(client: client, portion: portion)
            let setting = isSliding ? "matrix.sync.sliding" : "matrix.sync.plain"
            do {
                let token = try await store.setting(setting).flatMap { $0.isEmpty ? nil : $0 }
                if token == nil { try await noteKeptRooms() }
                syncs += 1
                let update = try await source.next(after: token, wait: connection == .online ? Self.wait : .zero)
                try await take(update, as: setting)
                // Whoever talks to the server anew knows nothing yet.
                try Task.checkCancellation()
                if update.isCaughtUp {
                    standing.hasCaughtUp = true
                    await leaveLeftRooms()
                    countOn()
                }
                await findMissing(after: syncs)
                try Task.checkCancellation()
                failures = 0
                if portion.grow() { await begin(source, with: portion, as: setting) }
                await setConnection(.online)
                tellMarksAgain()
            } catch is CancellationError {
                return
            } catch MatrixError.signedOut(let isSoft) {
                return await setConnection(.signedOut(isSoft: isSoft))
            } catch MatrixError.refused(400, _, _) {
                // The server has forgotten where we were: from the beginning, onto what is known.
                failures += 1
                standing.hasCaughtUp = false
                try? await store.setSetting("", for: setting)
                if failures > 1 { await pause(backOff.delay(after: failures, draw: .random(in: 0...1))) }
            } catch MatrixError.refused(404, _, _) where isSliding {
                standing.hasCaughtUp = false
                isSliding = false
            } catch {
                failures += 1
                standing.hasCaughtUp = false
                var attempts = failures
                if Self.isTooMuch(error) {
                    let isLess = portion.shrink()
                    let isNarrower = await begin(source, with: portion, as: setting)
                    if isLess || isNarrower { failures = 1 }
                    attempts = max(failures, portion.falls)
                }
                // One answer that is lost is no reason to call it offline.
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

    /// Whether an answer came that another one to a smaller request need not be like: it was too long, or had something
    /// in it that cannot be read.
    private static func isTooMuch(_ error: any Error) -> Bool {
        switch error {
        case MatrixError.tooLarge, MatrixError.malformed: true
        default: false
        }
    }

    /// Goes on with as few rooms as of a portion.
    /// - Returns: whether there were more before.
    @discardableResult
    private func begin(_ source: any SyncSource, with portion: SyncPortion, as setting: String) async -> Bool {
        guard let token = try? await store.setting(setting), !token.isEmpty else { return false }
        let narrowed = source.narrowed(token, to: portion)
        guard narrowed != token else { return false }
        standing.hasCaughtUp = false
        // What is left while it is not among those that are asked for is told by nobody.
        try? await noteKeptRooms()
        try? await store.setSetting(narrowed, for: setting)
        return true
    }

    private func pause(_ duration: Duration) async { try? await clock.sleep(for: duration, tolerance: nil) }

    func setConnection(_ new: Connection) async {
        guard new != connection, !isClosed else { return }
        connection = new
        connections.yield(new)
        await outbox.setOnline(new == .online || new == .connecting)
        if new == .online { areMarksUntold = true }
    }

    /// Takes in what the server told, with where to go on, and tells those who watch.
    private func take(_ update: SyncUpdate, as setting: String) async throws {
        try await inTurn {
            var batch = SyncBatch(settings: [setting: update.token])
            take(update, into: &batch)
            for room in update.rooms {
                if room.membership == .invited {
                    await invitation(room, into: &batch)
                } else if let room = try await self.batch(of: room) {
                    batch.rooms.append(room)
                }
            }
            let gaps = try await newestGaps(in: update)
            let outcomes = try await store.apply(batch)
            for outcome in outcomes {
                let gap = gaps[outcome.room]
                let isBehindGap = if let gap { try await isBehindGap(outcome.room, after: gap) } else { false }
                await tell(outcome, isBehindGap: isBehindGap)
            }
            for room in update.rooms { entered.remove(room.id) }
            try await invitationsChanged(by: batch)
            for room in batch.rooms where room.settings[MatrixOutboxBackend.encryptionSetting] == "1" {
                tell(.encrypted, in: room.id)
            }
            for room in update.rooms {
                if let typing = room.typing { tell(.typing(typing.filter { $0 != own }), in: room.id) }
            }
            for room in update.rooms where room.gap != nil {
                echoes.lookAgain(in: room.id)
                counter.lookAgain(in: room.id)
            }
            if !outcomes.isEmpty || batch.directRooms != nil { roomsChanged() }
        }
    }

    /// What concerns no room alone. Before the rooms: they are read by it.
    private func take(_ update: SyncUpdate, into batch: inout SyncBatch) {
        batch.areInvitationsWhole = update.isWhole
        // What can't be written down, such as a number that is too large, is ignored: it comes again with each answer.
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

    /// Where the newest gaps are in the rooms that are watched and of which the server leaves something out.
    /// - Returns: a position a room, nil where there is no gap.
    private func newestGaps(in update: SyncUpdate) async throws -> [RoomID: Int64?] {
        var gaps: [RoomID: Int64?] = [:]
        for room in update.rooms where room.gap != nil && timelines[room.id] != nil {
            let isKnown = try await store.hasRoom(room.id)
            gaps[room.id] = .some(isKnown ? try await store.gaps(in: room.id).last?.position : nil)
        }
        return gaps
    }

    /// Whether a sync left something out in front of what it told of a room.
    /// - Parameter gap: where the newest was before.
    private func isBehindGap(_ room: RoomID, after gap: Int64?) async throws -> Bool {
        guard try await store.hasRoom(room), let newest = try await store.gaps(in: room).last else { return false }
        return newest.position > gap ?? .min
    }

    /// - Parameter isBehindGap: whether something is missing between what was known and what is told now: those who
    ///   watch the room hold a stretch without gaps, and begin anew.
    func tell(_ outcome: RoomOutcome, isBehindGap: Bool = false) async {
        let room = outcome.room
        if outcome.isLeft {
            echoes.forget(room)
            changes.forget(room)
            try? await outbox.forget(room)
            tell(.closed, in: room)
            timelines[room]?.finish()
            timelines[room] = nil
            names[room] = nil
            return
        }
        if let members = outcome.members {
            tell(members, in: room)
            if let me = members.first(where: { $0.id == own }), !me.hasLeft { ownNames.yield(me.displayName) }
        }
        let removed = echoes.settle(outcome.changed, in: room)
        if !removed.isEmpty { tell(.removed(removed), in: room) }
        if isBehindGap {
            await tellAnew(room)
        } else if !outcome.changed.isEmpty {
            tell(.changed(outcome.changed), in: room)
        }
    }

    /// - Returns: nil if the room does not concern the user.
    func batch(of update: RoomUpdate) async throws -> RoomBatch? {
        let reader = try await state(of: update)
        var batch = RoomBatch(id: update.id, createdAt: reader.creation?.at ?? now())
        if update.membership == .left || reader.isLeft {
            batch.isLeft = true
            return batch
        }
        // An error is no answer: a room taken for unknown would lose that it is encrypted.
        let isKnown = try await store.hasRoom(update.id)
        // Nothing is said in it. An earlier version took it for a room; what comes later does not tell what it is.
        let space = "matrix.space." + update.id.rawValue
        if reader.isSpace {
            try await store.setSetting("1", for: space)
            batch.isLeft = true
            return isKnown ? batch : nil
        }
        if !isKnown, try await store.setting(space) != nil { return nil }
        // What an extension tells of a room that was not told itself.
        guard isKnown || !update.state.isEmpty || !update.timeline.isEmpty else { return nil }
        func kept(_ name: String) async throws -> String? {
            isKnown ? try await store.setting(name, of: update.id) : nil
        }
        batch.isDirect = !isKnown && directRooms.partners[update.id] != nil
        batch.members = reader.members
        batch.settings = reader.settings
        batch.origins = reader.origins
        batch.unnamed = reader.unnamed
        if reader.settings[MatrixOutboxBackend.encryptionSetting] == nil,
            try await kept(MatrixOutboxBackend.encryptionSetting) == nil
        {
            batch.settings[MatrixOutboxBackend.encryptionSetting] = "0"
        }
        if !isKnown, !reader.members.contains(where: { $0.id == own }) {
            batch.members.append(Member(id: own, displayName: own.rawValue, kind: .own))
        }
        let explicit = reader.name == nil ? try await kept(RoomStateReader.nameSetting) : reader.name
        let alias = reader.alias == nil ? try await kept(RoomStateReader.aliasSetting) : reader.alias
        let name = [explicit, alias].compactMap(\.self).first { !$0.isEmpty }
        let isOtherwise = !isKnown || reader.name != nil || reader.alias != nil
        if isOtherwise || name == nil && (update.heroes != nil || reader.tellsOfMembers) {
            batch.name = if let name { name } else { try await self.name(of: update, reader, isKnown: isKnown) }
        }
        if let heroes = update.heroes {
            batch.settings[NamelessRoom.heroesSetting] = heroes.map(\.id.rawValue).joined(separator: " ")
        }
        let avatar = RoomAvatar(
            kept: try await kept(RoomAvatar.uriSetting), hero: try await kept(RoomAvatar.heroSetting))
        batch.avatar = avatar.change(by: update, reader, own: own, &batch.settings)
        var creation = reader.creation
        if creation == nil { creation = RoomCreation(try await kept(RoomStateReader.creationSetting)) }
        if let count = update.joinedCount { batch.settings[RoomStateReader.joinedCountSetting] = String(count) }
        let me = reader.members.first { $0.id == own }?.displayName
        let rules = (pushRules, try await pushRoom(update.id, isKnown: isKnown, name: me, told: batch.settings))
        let events = EventReader(own: own, translator: translator, rules: rules, creation: creation)
        batch.events = echoes.authored(events.timeline(update.timeline), in: update.id)
        batch.gap = update.gap
        batch.receipts = update.receipts.filter { $0.member != own }
        batch.readUpTo =
            update.receipts.filter { $0.member == own }.map(\.message) + [update.fullyRead].compactMap(\.self)
        batch.counted = update.counted
        return batch
    }

    /// What push rules ask of a room.
    /// - Parameter told: settings that are about to be kept.
    private func pushRoom(
        _ id: RoomID, isKnown: Bool, name: String?, told: [String: String?]
    ) async throws -> PushRoom {
        func value(_ setting: String) async throws -> String? {
            if let value = told[setting] { return value }
            return isKnown ? try await store.setting(setting, of: id) : nil
        }
        var name = name
        if name == nil, isKnown { name = try await store.member(own, of: id)?.displayName }
        return PushRoom(
            id: id, own: own, ownName: name == own.rawValue ? nil : name,
            memberCount: try await value(RoomStateReader.joinedCountSetting).flatMap { Int($0) },
            powerLevels: try await value(RoomStateReader.powerLevelsSetting).flatMap {
                try? JSONValue(parsing: Data($0.utf8))
            })
    }

    /// nil for a room that is gone.
    func pushRoom(_ id: RoomID) async throws -> PushRoom? {
        guard try await store.member(own, of: id) != nil else { return nil }
        return try await pushRoom(id, isKnown: true, name: nil, told: [:])
    }

    /// What a room without a name is called.
    private func name(of update: RoomUpdate, _ reader: RoomStateReader, isKnown: Bool) async throws -> String {
        let heroes = isKnown ? try await store.setting(NamelessRoom.heroesSetting, of: update.id) : nil
        let members = isKnown ? try await store.members(of: update.id) : []
        let unnamed = members.filter { reader.unnamed.contains($0.id) }.map { member in
            var member = member
            member.displayName = member.id.rawValue
            return member
        }
        let room = NamelessRoom(own: own, kept: members, changed: unnamed + reader.members)
        let kept = (heroes ?? "").split(separator: " ").map { MemberID(String($0)) }
        return room.name(told: update.heroes, kept: kept) ?? translator("Empty room")
    }
}
