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
            // The server has no membership to leave.
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

    /// Invites a user.
    /// - Parameter address: A user ID, `@name:server`.
    public func invite(_ address: String, to room: RoomID) async throws {
        guard address.hasPrefix("@"), address.contains(":") else { throw ChatError.notFound }
        _ = try await store.gaps(in: room)
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
            batchOfRoom.isDirect = directRooms.partners[room] != nil
            let batch = SyncBatch(rooms: [batchOfRoom])
            if !isKnownRoom { entered.insert(room) }
            for roomChange in try await store.apply(batch) { await publish(roomChange) }
            try await invitationsChanged(by: batch)
            roomsChanged()
        }
    }

    /// Runs a request and maps ``MatrixError`` to ``ChatError``.
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
