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

    /// Creates an invite-only room.
    @discardableResult
    public func createRoom(named name: String) async throws -> RoomID {
        try await createRoom(RoomRequest(name: name))
    }

    public func renameRoom(_ room: RoomID, to name: String) async throws {
        guard let name = ChatLimits.roomName(from: name) else { throw ChatError.invalidName }
        try await store.requireRoom(room)
        try await asking { try await client.setState("m.room.name", ["name": .string(name)], of: room) }
        try await serialized {
            try await store.renameRoom(room, to: name)
            roomsChanged()
        }
    }

    public func leaveRoom(_ room: RoomID) async throws {
        try await store.requireRoom(room)
        do {
            try await asking { try await client.leave(room) }
        } catch ChatError.notFound {
            // The server has no membership to leave.
        } catch ChatError.notPermitted {
            guard try await asking({ try await isOutside(room) }) else { throw ChatError.notPermitted }
        }
        try await serialized {
            let batch = SyncBatch(rooms: [.left(room, at: now())])
            for roomChange in try await store.apply(batch) { await publish(roomChange) }
            roomsChanged()
        }
    }

    /// Whether the server no longer has the user as a joined member, as after a ban.
    func isOutside(_ room: RoomID) async throws -> Bool {
        do {
            return try await client.membership(of: ownUserID.rawValue, in: room) != "join"
        } catch MatrixError.rejected(403, _, _) {
            return true
        }
    }

    /// Removes another member.
    /// - Throws: ``ChatError/notPermitted`` for the user, who leaves instead, or if the server denies it.
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
        try await store.roomState(of: room).topic
    }

    public func setTopic(_ topic: String?, of room: RoomID) async throws {
        let topic = try ChatLimits.topic(from: topic)
        try await store.requireRoom(room)
        try await asking { try await client.setState("m.room.topic", ["topic": .string(topic ?? "")], of: room) }
        try await serialized {
            try await store.updateRoomState(of: room) { $0.topic = topic }
        }
    }

    public func setDisplayName(_ name: String) async throws {
        guard let name = ChatLimits.displayName(from: name) else { throw ChatError.invalidDisplayName }
        try await asking { try await client.setDisplayName(name, of: ownUserID) }
        ownDisplayNames.yield(name)
        try await serialized {
            for room in try await store.renameMember(ownUserID, to: name) {
                if let me = try await store.member(ownUserID, of: room) { publish([me], in: room) }
            }
            roomsChanged()
        }
    }

    /// Invites a user.
    /// - Parameter address: A user ID, `@name:server`.
    public func invite(_ address: String, to room: RoomID) async throws {
        guard address.hasPrefix("@"), address.contains(":") else { throw ChatError.notFound }
        try await store.requireRoom(room)
        try await asking { try await client.invite(address, to: room) }
    }

    /// Joins a room.
    /// - Parameter address: A room ID, an alias, `#name:server`, or a link to either.
    public func join(_ address: String) async throws -> RoomID {
        guard let (address, via) = ChatAddress(address)?.room else { throw ChatError.notFound }
        let room = try await asking { try await client.join(address, via: via) }
        try await enter(room, name: nil)
        return room
    }

    public func headline(of room: RoomID) async throws -> RoomHeadline {
        let state = try await store.roomState(of: room)
        return RoomHeadline(topic: state.topic, memberCount: state.joinedCount)
    }

    public func succession(of room: RoomID) async throws -> RoomSuccession {
        try await store.roomState(of: room).succession
    }

    /// Returns a link to a message.
    /// - Returns: A matrix.to link with `via` servers: room IDs do not name any.
    public func link(to message: MessageID, in room: RoomID) async throws -> String {
        guard LocalEchoes.transaction(of: message) == nil, try await store.messages([message], in: room).first != nil
        else {
            throw ChatError.notFound
        }
        let members = try await store.members(of: room).filter { !$0.hasLeft }.map(\.id)
        return MatrixLink.link(to: message, in: room, by: [ownUserID] + members)
    }

    /// Refreshes the room summaries.
    func roomsChanged() {
        summaries.markStale()
        guard summaries.beginRefresh() else { return }
        Task { await refreshSummaries() }
    }

    /// Stores a room that the user joined or created, before the sync returns it.
    /// - Parameter isNamed: Whether the user chose `name`; otherwise the sync's name replaces it.
    func enter(_ room: RoomID, name: String?, isNamed: Bool = false) async throws {
        try await serialized {
            let me = Member(id: ownUserID, displayName: ownUserID.rawValue, kind: .own)
            let isKnownRoom = try await store.hasRoom(room)
            var batchOfRoom = RoomBatch(
                id: room, name: isKnownRoom && !isNamed ? nil : name, createdAt: now(), members: isKnownRoom ? [] : [me]
            )
            batchOfRoom.isDirect = accountData.directRooms.partners[room] != nil
            let batch = SyncBatch(rooms: [batchOfRoom])
            if !isKnownRoom { entered.insert(room) }
            for roomChange in try await store.apply(batch) { await publish(roomChange) }
            try await invitationsChanged(by: batch)
            roomsChanged()
        }
    }

    private func observeSummaries(with continuation: AsyncStream<[RoomSummary]>.Continuation) {
        guard !isClosed else { return continuation.finish() }
        summaries.add(continuation)
        roomsChanged()
    }

    /// Reads the summaries; several changes during a read cause one further read.
    private func refreshSummaries() async {
        while summaries.isStale {
            summaries.startReading()
            // On an error the next change reads again: the list cannot display errors.
            guard let rooms = try? await store.roomSummaries() else { break }
            summaries.publish(withWaiting(rooms))
        }
        summaries.endRefresh()
    }

    /// Returns the summaries with pending messages as last messages, sorted by last activity.
    private func withWaiting(_ rooms: [RoomSummary]) -> [RoomSummary] {
        var rooms = rooms
        var isChanged = false
        for index in rooms.indices {
            guard let waiting = waiting(in: rooms[index].id) else { continue }
            // A failed message does not replace newer messages of others.
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

    /// Returns the newest pending or failed message of a room.
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
