import ChatCore

/// What an avatar shows without an image.
public nonisolated enum AvatarFallback: Equatable, Sendable {
    /// The initials of the name.
    case initials
    case notes, everyone, computer
}

extension RoomListViewModel.Row {
    public nonisolated var avatarFallback: AvatarFallback { kind == .notes ? .notes : .initials }
    /// Whether other users may be in the room, who can be mentioned.
    public nonisolated var hasOthers: Bool { kind != .notes }
}

extension RoomDetailsViewModel.State {
    public nonisolated var avatarFallback: AvatarFallback { kind == .notes ? .notes : .initials }
}

extension AccountsCoordinator.Row {
    public nonisolated var avatarFallback: AvatarFallback { isLocal ? .computer : .initials }
}

extension MentionCard {
    public nonisolated var avatarFallback: AvatarFallback { isEveryone ? .everyone : .initials }
}
