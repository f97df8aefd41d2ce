public import ChatCore
import ChatStore
import Composer
import JSONReading

extension MatrixBackend {
    public nonisolated func roomSummaries() -> AsyncStream<[RoomSummary]> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: [RoomSummary].self, bufferingPolicy: .bufferingNewest(1))
        Task { await observeSummaries(with: continuation) }
        return stream
    }

    /// Makes a room that others have to be invited to.
    @discardableResult
    public func createRoom(named name: String) async throws -> RoomID {
        try await createRoom(RoomRequest(name: name))
    }

    public func renameRoom(_ room: RoomID, to name: String) async throws {
        guard let name = ChatLimits.roomName(from: name) else { throw ChatError.invalidName }
        _ = try await store.gaps(in: room)
        try await asking { try await client.setState("m.room.name", ["name": .string(name)], of: room) }
        try await serialized {
            try await store.renameRoom(room, to: name)
            roomsChanged()
        }
    }

    public func leaveRoom(_ room: RoomID) async throws {
        _ = try await store.gaps(in: room)
        do {
            try await asking { try await client.leave(room) }
        } catch ChatError.notFound {
            // The server knows of no such membership.
        } catch ChatError.notPermitted {
            guard try await asking({ try await isOutside(room) }) else { throw ChatError.notPermitted }
        }
        try await serialized {
            var roomBatch = RoomBatch(id: room, createdAt: now())
            roomBatch.isLeft = true
            for roomChange in try await store.apply(SyncBatch(rooms: [roomBatch])) { await publish(roomChange) }
            roomsChanged()
        }
    }

    /// Whether the server does not have the user in a room, such as after a ban.
    func isOutside(_ room: RoomID) async throws -> Bool {
        do {
            return try await client.membership(of: ownUserID.rawValue, in: room) != "join"
        } catch MatrixError.rejected(403, _, _) {
            return true
        }
    }

    /// - Throws: ``ChatError/notPermitted`` for the own member, who leaves instead, and if the server says so.
    public func removeMember(_ member: MemberID, from room: RoomID) async throws {
        guard member != ownUserID else { throw ChatError.notPermitted }
        guard try await store.members(of: room).contains(where: { $0.id == member && !$0.hasLeft }) else {
            throw ChatError.notFound
        }
        try await asking { try await client.remove(member, from: room) }
        try await serialized {
            let members = try await store.removeMember(member, from: room)
            publish(members.filter { $0.id == member }, in: room)
            roomsChanged()
        }
    }

    public nonisolated var capabilities: BackendCapabilities {
        [
            .topic, .displayName, .invite, .join, .reactions, .editHistory, .linkPreviews, .links, .memberList,
            .userDirectory,
            .plainTexts,
        ]
    }

    public func topic(of room: RoomID) async throws -> String? {
        try await store.setting(ParsedRoomState.topicSetting, of: room)
    }

    public func setTopic(_ topic: String?, of room: RoomID) async throws {
        let topic = topic.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") } ?? ""
        guard topic.count <= ChatLimits.topicLength else { throw ChatError.invalidName }
        _ = try await store.gaps(in: room)
        try await asking { try await client.setState("m.room.topic", ["topic": .string(topic)], of: room) }
        try await store.set(topic.isEmpty ? nil : topic, for: ParsedRoomState.topicSetting, of: room)
    }

    public func setDisplayName(_ name: String) async throws {
        guard let name = ChatLimits.roomName(from: name) else { throw ChatError.invalidName }
        try await asking { try await client.setDisplayName(name, of: ownUserID) }
        ownDisplayNames.yield(name)
        try await serialized {
            for room in try await store.renameMember(ownUserID, to: name) {
                if let me = try await store.member(ownUserID, of: room) { publish([me], in: room) }
            }
            roomsChanged()
        }
    }

    /// - Parameter address: a user's identifier, `@name:server`.
    public func invite(_ address: String, to room: RoomID) async throws {
        guard address.hasPrefix("@"), address.contains(":") else { throw ChatError.notFound }
        _ = try await store.gaps(in: room)
        try await asking { try await client.invite(address, to: room) }
    }

    /// - Parameter address: a room's identifier, an alias, `#name:server`, or a link to either.
    public func join(_ address: String) async throws -> RoomID {
        guard let (address, via) = ChatAddress(address)?.room else { throw ChatError.notFound }
        let room = try await asking { try await client.join(address, via: via) }
        try await enter(room, name: nil)
        return room
    }

    public func headline(of room: RoomID) async throws -> RoomHeadline {
        RoomHeadline(
            topic: try await topic(of: room),
            memberCount: try await store.setting(ParsedRoomState.joinedCountSetting, of: room).flatMap { Int($0) })
    }

    public func succession(of room: RoomID) async throws -> RoomSuccession {
        RoomSuccession(
            next: try await store.setting(RoomSuccession.nextSetting, of: room),
            reason: try await store.setting(RoomSuccession.reasonSetting, of: room),
            previous: try await store.setting(RoomSuccession.previousSetting, of: room))
    }

    /// - Returns: a link as of matrix.to, which names servers that are in the room: identifiers of rooms name none.
    public func link(to message: MessageID, in room: RoomID) async throws -> String {
        guard LocalEchoes.transaction(of: message) == nil, try await store.messages([message], in: room).first != nil
        else {
            throw ChatError.notFound
        }
        let members = try await store.members(of: room).filter { !$0.hasLeft }.map(\.id)
        return MatrixLink.link(to: message, in: room, by: [ownUserID] + members)
    }

    /// Has the room list follow a change.
    func roomsChanged() {
        summaries.markStale()
        guard summaries.beginRefresh() else { return }
        Task { await refreshSummaries() }
    }

    /// A room is there as soon as the server says so; the sync brings the rest of it.
    /// - Parameter isNamed: whether that is its name by the user's own word; else what the sync tells is better.
    func enter(_ room: RoomID, name: String?, isNamed: Bool = false) async throws {
        try await serialized {
            let me = Member(id: ownUserID, displayName: ownUserID.rawValue, kind: .own)
            let isKnownRoom = try await store.hasRoom(room)
            var batchOfRoom = RoomBatch(
                id: room, name: isKnownRoom && !isNamed ? nil : name, createdAt: now(), members: isKnownRoom ? [] : [me]
            )
            batchOfRoom.isDirect = directRooms.partners[room] != nil
            let batch = SyncBatch(rooms: [batchOfRoom])
            if !isKnownRoom { entered.insert(room) }
            for roomChange in try await store.apply(batch) { await publish(roomChange) }
            try await invitationsChanged(by: batch)
            roomsChanged()
        }
    }

    /// Carries out what only the server can do, and turns its errors into those that a user can act on.
    func asking<T: Sendable>(_ work: () async throws -> T) async throws -> T {
        do { return try await work() } catch { throw Self.chatError(error) }
    }

    static func chatError(_ error: any Error) -> any Error {
        guard let error = error as? MatrixError else { return error }
        switch error {
        case .rejected(status: 403, _, _): return ChatError.notPermitted
        case .rejected(status: 404, _, _): return ChatError.notFound
        case .rejected(_, _, let reason) where !reason.isEmpty: return ChatError.rejected(reason: reason)
        case .rejected(_, let code, _): return ChatError.rejected(reason: code)
        case .busy: return ChatError.busy
        case .unreachable, .untrusted: return ChatError.unreachable
        case .signedOut: return ChatError.signedOut
        case .malformed, .tooLarge: return ChatError.storage(reason: "the server: \(error)")
        }
    }

    private func observeSummaries(with continuation: AsyncStream<[RoomSummary]>.Continuation) {
        guard !isClosed else { return continuation.finish() }
        summaries.add(continuation)
        roomsChanged()
    }

    /// Several changes while the rooms are being read make for one more reading.
    private func refreshSummaries() async {
        while summaries.isStale {
            summaries.startReading()
            // What cannot be read now is read after the next change: a list has no place for an error.
            guard let rooms = try? await store.roomSummaries() else { break }
            summaries.publish(withWaiting(rooms))
        }
        summaries.endRefresh()
    }

    /// The rooms with what the user said there and the server does not have yet, in the order of what happened last.
    private func withWaiting(_ rooms: [RoomSummary]) -> [RoomSummary] {
        var rooms = rooms
        var isChanged = false
        for index in rooms.indices {
            guard let waiting = waiting(in: rooms[index].id) else { continue }
            // What was given up waits for the user, while others go on talking.
            if waiting.delivery == .failed, let last = rooms[index].lastMessage, last.sentAt > waiting.sentAt {
                continue
            }
            isChanged = true
            rooms[index].lastMessage = waiting
            rooms[index].lastActivity = max(rooms[index].lastActivity, waiting.sentAt)
        }
        guard isChanged else { return rooms }
        return rooms.enumerated().sorted {
            ($0.element.lastActivity, $1.offset) > ($1.element.lastActivity, $0.offset)
        }.map(\.element)
    }

    /// The newest message of a room that is on its way, or could not be sent.
    func waiting(in room: RoomID) -> RoomSummary.LastMessage? {
        guard let echo = localEchoes.messages(in: room).map(displayed).last(where: { !$0.isDeleted }) else {
            return nil
        }
        let text = echo.text.isEmpty ? echo.attachments.first?.name ?? "" : echo.text
        return RoomSummary.LastMessage(
            senderName: ownUserID.rawValue, isOwn: true,
            text: String(text.prefix(RoomSummary.LastMessage.maxCharacters)),
            syntax: echo.text.isEmpty ? nil : echo.written?.syntax ?? .markdown, sentAt: echo.sentAt,
            delivery: echo.delivery)
    }
}
