import ChatViewModels
import GtkKit

/// What stands above the rows of a section of the room list.
struct SectionTitle: Equatable {
    let kind: RoomListViewModel.Section.Kind

    init(_ kind: RoomListViewModel.Section.Kind) {
        self.kind = kind
    }

    /// No room has such an identifier.
    private static let prefix = "\u{0001}section "

    init?(key: String) {
        guard key.hasPrefix(Self.prefix),
            let kind = RoomListViewModel.Section.Kind(rawValue: String(key.dropFirst(Self.prefix.count)))
        else { return nil }
        self.init(kind)
    }

    /// By which the list knows it.
    var key: String { Self.prefix + kind.rawValue }

    var text: String {
        switch kind {
        case .invitations: translated("Invitations")
        case .direct: translated("Direct Chats")
        case .rooms: translated("Rooms")
        }
    }
}
