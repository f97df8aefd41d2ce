import ChatCore
import ChatStore

/// Changes rooms, their members and the user's name.
struct LocalRooms: Sendable {
    private static let topicSetting = "topic"

    let gate: SerialGate
    let writer: TimelineWriter
    let profile: OwnProfile
    let guide: GuideResponder
    let translator: Translator

    private var store: ChatStore { writer.store }
    private var timelines: TimelineFeeds { writer.timelines }
    private var list: RoomListFeed { writer.rooms }

    func create(named name: String) async throws -> RoomID {
        guard let name = ChatLimits.roomName(from: name) else { throw ChatError.invalidName }
        let room = Room(id: RoomID(writer.makeID()), name: name, kind: .group)
        try await gate.run {
            try await store.createRoom(NewRoom(room: room, members: [profile.member], createdAt: writer.now()))
            await guide.noteTrial(of: .rooms)
            list.refresh(room.id)
        }
        return room.id
    }

    func rename(_ room: RoomID, to name: String) async throws {
        guard let name = ChatLimits.roomName(from: name) else { throw ChatError.invalidName }
        try await gate.run {
            let before = try await store.room(room).name
            try await store.renameRoom(room, to: name)
            if name != before { try await writer.note(RoomEvent(.roomNamed, before: before, after: name), in: room) }
            await guide.noteTrial(of: .rooms)
            list.refresh(room)
        }
    }

    func leave(_ room: RoomID) async throws {
        let staged = try await gate.run {
            let staged = try await store.stageRemoval(of: room)
            await guide.leave(room)
            timelines.close(room)
            list.refresh(room)
            return staged
        }
        // A long history takes seconds, for which neither the gate nor the caller has to wait.
        Task.detached(priority: .utility) { [store] in
            // What an end of the program leaves is removed by the next start, as of an unfinished import.
            try? await store.removeStagedRoom(staged)
        }
    }

    /// - Throws: ``ChatError/notPermitted`` for the user, who has to leave instead.
    func remove(_ member: MemberID, from room: RoomID) async throws {
        guard member != LocalBackend.ownUserID else { throw ChatError.notPermitted }
        try await gate.run {
            let members = try await store.removeMember(member, from: room)
            if member == LocalBackend.guideID { await guide.leave(room) }
            timelines.publish(.members(members), in: room)
            let name = members.first { $0.id == member }?.displayName
            try await writer.note(RoomEvent(.removed, subject: member, name: name), in: room)
            list.refresh(room)
        }
    }

    /// Adds the guide, given by its localized name or as `guide`, to a room. There is nobody else to invite.
    func invite(_ address: String, to room: RoomID) async throws {
        let name = translator("Guide")
        let requestedName = address.lowercased()
        guard requestedName == LocalBackend.guideID.rawValue || requestedName == name.lowercased() else {
            throw ChatError.notFound
        }
        try await gate.run {
            let members = try await store.members(of: room)
            guard !members.contains(where: { $0.id == LocalBackend.guideID && !$0.hasLeft }) else { return }
            try await store.addMember(Member(id: LocalBackend.guideID, displayName: name, kind: .guide), to: room)
            timelines.publish(.members(try await store.members(of: room)), in: room)
            try await writer.note(RoomEvent(.invited, subject: LocalBackend.guideID, name: name), in: room)
            try await guide.enter(room)
            list.refresh(room)
        }
    }

    func topic(of room: RoomID) async throws -> String? {
        try await store.setting(Self.topicSetting, of: room)
    }

    func setTopic(_ topic: String?, of room: RoomID) async throws {
        let after = try ChatLimits.topic(from: topic)
        try await gate.run {
            let before = try await store.setting(Self.topicSetting, of: room)
            guard before != after else { return }
            try await store.set(after, for: Self.topicSetting, of: room)
            try await writer.note(RoomEvent(.topicSet, before: before, after: after), in: room)
        }
    }

    func setDisplayName(_ name: String) async throws {
        guard let name = ChatLimits.displayName(from: name) else { throw ChatError.invalidDisplayName }
        try await gate.run {
            let before = profile.name
            try await profile.setName(name)
            let renamed = RoomEvent(
                .renamed, subject: LocalBackend.ownUserID, name: before, before: before, after: name)
            for room in try await store.renameMember(LocalBackend.ownUserID, to: name) {
                timelines.publish(.members(try await store.members(of: room)), in: room)
                try await writer.note(renamed, in: room)
            }
            list.refresh()
        }
    }
}
