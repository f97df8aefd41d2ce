public import ChatCore
import ChatStore

extension LocalBackend {
    /// There are no other users and no rooms to join; `invite` adds the guide.
    public nonisolated var capabilities: BackendCapabilities {
        [.topic, .displayName, .invite, .reactions, .editHistory]
    }

    private static let topicSetting = "topic"
    static let displayNameSetting = "local.ownName"

    public func topic(of room: RoomID) async throws -> String? {
        try await store.setting(Self.topicSetting, of: room)
    }

    public func setTopic(_ topic: String?, of room: RoomID) async throws {
        let topic = topic.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
        guard topic?.count ?? 0 <= ChatLimits.topicLength else { throw ChatError.invalidName }
        try await serialized {
            let before = try await store.setting(Self.topicSetting, of: room)
            let after = topic.flatMap { $0.isEmpty ? nil : $0 }
            guard before != after else { return }
            try await store.set(after, for: Self.topicSetting, of: room)
            try await note(RoomEvent(.topicSet, before: before, after: after), in: room)
        }
    }

    public func setDisplayName(_ name: String) async throws {
        guard let name = ChatLimits.roomName(from: name) else { throw ChatError.invalidName }
        try await serialized {
            try await store.setSetting(name, for: Self.displayNameSetting)
            let renamed = RoomEvent(
                .renamed, subject: Self.ownUserID, name: ownDisplayName, before: ownDisplayName, after: name)
            ownDisplayName = name
            for room in try await store.renameMember(Self.ownUserID, to: name) {
                publish(.members(try await store.members(of: room)), in: room)
                try await note(renamed, in: room)
            }
            roomsChanged()
        }
    }

    /// Adds the guide, given by its localized name or as `guide`, to a room.
    public func invite(_ address: String, to room: RoomID) async throws {
        let name = translator("Guide")
        let requestedName = address.lowercased()
        guard requestedName == Self.guideID.rawValue || requestedName == name.lowercased() else {
            throw ChatError.notFound
        }
        try await serialized {
            let members = try await store.members(of: room)
            guard !members.contains(where: { $0.id == Self.guideID && !$0.hasLeft }) else { return }
            try await store.addMember(Member(id: Self.guideID, displayName: name, kind: .guide), to: room)
            publish(.members(try await store.members(of: room)), in: room)
            try await note(RoomEvent(.invited, subject: Self.guideID, name: name), in: room)
            try await welcomeBack(to: room)
            roomsChanged()
        }
    }
}
