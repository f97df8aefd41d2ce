import ChatCore

/// Why the user certainly cannot send messages to a room, whatever this device can do.
nonisolated enum SendingObstacle: Equatable, Sendable {
    /// Another room has replaced it.
    case upgraded
    case permission

    /// Returns `nil` if messages can be sent, or if that is not known: the server decides then.
    static func of(_ room: RoomID, in service: any ChatService) async -> SendingObstacle? {
        if let succession = try? await service.succession(of: room), succession.next != nil { return .upgraded }
        guard let forbidden = try? await service.headline(of: room).forbiddenMessages, !forbidden.isEmpty else {
            return nil
        }
        let isEncrypted = try? await service.isEncrypted(room)
        return lacksPermission(forbidden, isEncrypted: isEncrypted) ? .permission : nil
    }

    /// - Parameters:
    ///   - forbidden: the messages that the user may not send to a room.
    ///   - isEncrypted: whether the room is encrypted; `nil` if that is not known.
    static func lacksPermission(_ forbidden: RoomHeadline.MessageKinds, isEncrypted: Bool?) -> Bool {
        switch isEncrypted {
        case true?: forbidden.contains(.encrypted)
        case false?: forbidden.contains(.unencrypted)
        case nil: forbidden.isSuperset(of: [.unencrypted, .encrypted])
        }
    }

    func text(_ translator: Translator) -> String {
        switch self {
        case .upgraded: translator("This room was upgraded and is no longer active.")
        case .permission: translator("You do not have permission to send messages in this room.")
        }
    }
}
