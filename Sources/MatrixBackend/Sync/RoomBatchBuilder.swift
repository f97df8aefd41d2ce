import ChatCore
import ChatStore
import Foundation
import JSONReading

/// Builds the batches to store from a sync's room updates and what is known of the rooms. Pure: it performs no I/O
/// and keeps no state.
struct RoomBatchBuilder: Sendable {
    let ownUserID: MemberID
    let translator: Translator
    let accountData: AccountData
    /// The time at which the update arrived.
    let now: Date

    /// Returns what to read of the room before ``batch(of:known:)``.
    func request(for update: RoomUpdate) -> KnownRoom.Request {
        let names: Set = ["m.room.name", "m.room.canonical_alias"]
        let mayLoseName = update.state.contains { names.contains($0.type) }
        return KnownRoom.Request(
            update.id, members: mayLoseName ? .all : .ifNameless, events: update.deleted, namingTypes: names)
    }

    /// - Returns: `nil` for a space, or an unknown room without content, such as mere receipts.
    func batch(of update: RoomUpdate, known: KnownRooms) -> RoomBatch? {
        if update.membership == .invited {
            // The user can be invited only after leaving the room, so remove the stored room.
            return known.rooms[update.id].map { _ in .left(update.id, at: now) }
        }
        let room = known.rooms[update.id]
        let parsed = parsedState(of: update, known: room)
        var batch = RoomBatch(id: update.id, createdAt: parsed.room.creation?.at ?? now)
        if update.membership == .left || parsed.isLeft {
            batch.isLeft = true
            batch.removal = parsed.removal.map { removal(by: $0, from: update.id, parsed) }
            return batch
        }
        // Spaces have no timeline. Later updates do not repeat the type, so the store remembers it. Earlier versions
        // stored a known space as a room when the user joined it again.
        if parsed.isSpace || room != nil && known.spaces.contains(update.id) {
            batch.isSpace = true
            return batch
        }
        let hasContent = !update.state.isEmpty || !update.timeline.isEmpty || !update.encryption.isEmpty
        guard room != nil || !known.spaces.contains(update.id) && hasContent else { return nil }
        fill(&batch, from: update, parsed, known: room)
        return batch
    }

    private func removal(by event: MatrixEvent, from room: RoomID, _ parsed: ParsedRoomState) -> RoomRemoval {
        let actor = parsed.members.first { $0.id == event.sender }
        let reason = ParsedRoomState.line(event.content["reason"]?.string)
        return RoomRemoval(
            room: room, roomName: parsed.room.name ?? room.rawValue,
            kind: event.content["membership"]?.string == "ban" ? .banned : .removed, actor: event.sender,
            actorName: actor?.displayName ?? event.sender.rawValue, reason: reason.isEmpty ? nil : reason)
    }

    private func fill(_ batch: inout RoomBatch, from update: RoomUpdate, _ parsed: ParsedRoomState, known: KnownRoom?) {
        var state = parsed.room
        if let heroes = update.heroes { state.heroes = heroes.map(\.id) }
        state.joinedCount = update.joinedCount ?? state.joinedCount
        if !update.encryption.isEmpty { state.encryption = .on }
        batch.state = state
        batch.isDirect = known == nil && accountData.directPartners[update.id] != nil
        batch.members = parsed.members
        batch.origins = parsed.origins
        batch.unnamed = parsed.unnamed
        let me = parsed.members.first { $0.id == ownUserID }
        if known == nil, me == nil {
            batch.members.append(Member(id: ownUserID, displayName: ownUserID.rawValue, kind: .own))
        }
        let name = state.name ?? state.alias
        let mayBeRenamed = known == nil || parsed.setsName
        if mayBeRenamed || name == nil && changesMemberNames(update, parsed, known: known) {
            batch.name = name ?? memberNames(of: update, parsed, known: known)
        }
        batch.avatar = RoomAvatar(state: state, ownUserID: ownUserID).change(by: update, parsed)
        let parser = eventParser(of: update.id, state, ownName: (me ?? known?.ownMember)?.displayName)
        batch.events = parser.timeline(update.timeline)
        batch.gap = update.gap
        batch.receipts = update.receipts.filter { $0.member != ownUserID }
        batch.fullyReadMarkers =
            update.receipts.filter { $0.member == ownUserID }.map(\.message) + [update.fullyRead].compactMap(\.self)
        batch.isMarkedUnread = update.isMarkedUnread
        batch.counted = update.counted
    }

    /// Returns the room's state after an update. Redacted state is as if it had never been set (specification,
    /// redactions).
    private func parsedState(of update: RoomUpdate, known: KnownRoom?) -> ParsedRoomState {
        let deleted = update.deleted
        let state = update.state.map { deleted.contains($0.id) ? $0.pruned : $0 }
        // Before the update's state, which may set it again.
        let removed = known?.origins.compactMap(MatrixEvent.init(prunedAt:)) ?? []
        return ParsedRoomState(ownUserID: ownUserID, state: removed + state, known: known?.state ?? RoomState())
    }

    /// Returns a parser of the events of a room.
    /// - Parameters:
    ///   - state: The room's state, against which push rules are evaluated.
    ///   - ownName: The user's display name in the room.
    func eventParser(of room: RoomID, _ state: RoomState, ownName: String?) -> EventParser {
        EventParser(
            ownUserID: ownUserID, translator: translator,
            rules: (accountData.pushRules, pushRoom(room, state, ownName: ownName)),
            ignoredUsers: accountData.ignoredUsers, creation: state.creation)
    }

    private func pushRoom(_ room: RoomID, _ state: RoomState, ownName: String?) -> PushRoom {
        PushRoom(
            id: room, ownUserID: ownUserID, ownDisplayName: ownName == ownUserID.rawValue ? nil : ownName,
            memberCount: state.joinedCount, powers: PowerLevels(of: state))
    }

    /// Returns the messages of an update whose notifications play a sound according to the push rules
    /// (``EventParser/audibleMessages(in:)``).
    func audibleMessages(of update: RoomUpdate, known: KnownRooms) -> Set<MessageID> {
        let room = known.rooms[update.id]
        let parsed = parsedState(of: update, known: room)
        let me = parsed.members.first { $0.id == ownUserID }
        var state = parsed.room
        state.joinedCount = update.joinedCount ?? state.joinedCount
        let parser = eventParser(of: update.id, state, ownName: (me ?? room?.ownMember)?.displayName)
        return parser.audibleMessages(in: update.timeline)
    }

    /// Whether a room that is named after its members gets another name.
    private func changesMemberNames(_ update: RoomUpdate, _ parsed: ParsedRoomState, known: KnownRoom?) -> Bool {
        // A name that was removed must not stay in the room's.
        if update.heroes != nil || !parsed.unnamed.isEmpty { return true }
        // A sliding sync names the heroes once, and then only their IDs are stored. Others become known as they speak.
        let members = Set(((known?.members ?? []) + parsed.members).map(\.id))
        let heroes = known?.state.heroes ?? []
        return !parsed.members.isEmpty && heroes.allSatisfy { $0 == ownUserID || members.contains($0) }
    }

    /// Returns the name of a room with neither a name nor an alias.
    private func memberNames(of update: RoomUpdate, _ parsed: ParsedRoomState, known: KnownRoom?) -> String {
        let members = known?.members ?? []
        let unnamed = members.filter { parsed.unnamed.contains($0.id) }.map { member in
            var member = member
            member.displayName = member.id.rawValue
            return member
        }
        let room = NamelessRoom(ownUserID: ownUserID, storedMembers: members, changed: unnamed + parsed.members)
        return room.name(heroes: update.heroes, storedHeroes: known?.state.heroes ?? []) ?? translator("Empty Room")
    }
}

extension RoomBatch {
    /// Removes a room that the user left.
    static func left(_ room: RoomID, at date: Date) -> RoomBatch {
        var batch = RoomBatch(id: room, createdAt: date)
        batch.isLeft = true
        return batch
    }
}
