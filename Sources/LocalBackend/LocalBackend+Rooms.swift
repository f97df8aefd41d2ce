public import ChatCore
import ChatStore

extension LocalBackend {
    public nonisolated func roomSummaries() -> AsyncStream<[RoomSummary]> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: [RoomSummary].self, bufferingPolicy: .bufferingNewest(1))
        Task { await observeSummaries(with: continuation) }
        return stream
    }

    @discardableResult
    public func createRoom(named name: String) async throws -> RoomID {
        guard let name = ChatLimits.roomName(from: name) else { throw ChatError.invalidName }
        let room = Room(id: RoomID(makeID()), name: name, kind: .group)
        let ownMember = Member(id: Self.ownUserID, displayName: ownDisplayName, kind: .own)
        try await serialized {
            try await store.createRoom(NewRoom(room: room, members: [ownMember], createdAt: now()))
            guideSaw(trying: .rooms)
            roomsChanged()
        }
        return room.id
    }

    public func renameRoom(_ room: RoomID, to name: String) async throws {
        guard let name = ChatLimits.roomName(from: name) else { throw ChatError.invalidName }
        try await serialized {
            let before = try await store.room(room).name
            try await store.renameRoom(room, to: name)
            if name != before { try await note(RoomEvent(.roomNamed, before: before, after: name), in: room) }
            guideSaw(trying: .rooms)
            roomsChanged()
        }
    }

    public func leaveRoom(_ room: RoomID) async throws {
        try await serialized {
            try await store.removeRoom(room)
            dismissGuide(from: room)
            publish(.closed, in: room)
            timelines[room]?.finish()
            timelines[room] = nil
            roomsChanged()
        }
    }

    /// - Throws: ``ChatError/notPermitted`` for the user, who has to leave instead.
    public func removeMember(_ member: MemberID, from room: RoomID) async throws {
        guard member != Self.ownUserID else { throw ChatError.notPermitted }
        try await serialized {
            let members = try await store.removeMember(member, from: room)
            if member == Self.guideID { dismissGuide(from: room) }
            publish(.members(members), in: room)
            let name = members.first { $0.id == member }?.displayName
            try await note(RoomEvent(.removed, subject: member, name: name), in: room)
            roomsChanged()
        }
    }

    /// Adds a room event to the timeline.
    func note(_ event: RoomEvent, in room: RoomID) async throws {
        let new = NewMessage(id: MessageID(makeID()), sender: Self.ownUserID, event: event, sentAt: now())
        publish(.changed([try await store.append(new, to: room).message]), in: room)
    }

    /// Refreshes the room list after a change.
    func roomsChanged() {
        summaries.markStale()
        guard summaries.beginRefresh() else { return }
        Task { await refreshSummaries() }
    }

    private func observeSummaries(with continuation: AsyncStream<[RoomSummary]>.Continuation) {
        guard !isClosed else { return continuation.finish() }
        summaries.add(continuation)
        roomsChanged()
    }

    /// Changes that occur while the list is being read cause a single further read.
    private func refreshSummaries() async {
        while summaries.isStale {
            summaries.startReading()
            // There is no way to report an error here; the list is read again after the next change.
            guard let rooms = try? await store.roomSummaries() else { break }
            summaries.publish(rooms)
        }
        summaries.endRefresh()
    }
}
