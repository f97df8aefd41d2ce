import ChatViewModels
import ComposerGtk

/// The title row of a section of the room list.
struct SectionTitle: Equatable {
    let kind: RoomListViewModel.Section.Kind

    init(_ kind: RoomListViewModel.Section.Kind) {
        self.kind = kind
    }

    /// A prefix that no room ID can have.
    private static let prefix = "\u{0001}section "

    init?(key: String) {
        guard key.hasPrefix(Self.prefix),
            let kind = RoomListViewModel.Section.Kind(rawValue: String(key.dropFirst(Self.prefix.count)))
        else { return nil }
        self.init(kind)
    }

    /// The row's key in the list model.
    var key: String { Self.prefix + kind.rawValue }

    var text: String { kind.title(.gettext) }
}
