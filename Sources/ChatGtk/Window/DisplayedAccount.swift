import ChatViewModels
import MediaGtk

/// The account that a window shows.
struct DisplayedAccount: Equatable {
    let coordinator: ConversationCoordinator
    /// Shared by all views of the account.
    let avatars: AvatarLoader

    init(_ coordinator: ConversationCoordinator) {
        self.coordinator = coordinator
        avatars = AvatarLoader(service: coordinator.media)
    }

    static func == (a: Self, b: Self) -> Bool { a.coordinator === b.coordinator && a.avatars === b.avatars }
}
