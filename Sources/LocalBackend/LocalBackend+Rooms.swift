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

    /// - Throws: ``ChatError/notPermitted`` for the own member, who leaves instead.
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

    /// Puts what the user did to a room among its messages, once it is done.
    func note(_ event: RoomEvent, in room: RoomID) async throws {
        let new = NewMessage(id: MessageID(makeID()), sender: Self.ownUserID, event: event, sentAt: now())
        publish(.changed([try await store.append(new, to: room).message]), in: room)
    }

    /// Has the room list follow a change.
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

    /// Several changes while the rooms are being read make for one more reading.
    private func refreshSummaries() async {
        while summaries.isStale {
            summaries.startReading()
            // What cannot be read now is read after the next change: a list has no place for an error.
            guard let rooms = try? await store.roomSummaries() else { break }
            summaries.publish(rooms)
        }
        summaries.endRefresh()
    }
}
