/// The read receipts of a message as its row shows them: avatars, and a count in place of those that do not fit.
public nonisolated struct ReadReceipts: Equatable, Sendable {
    /// With more readers, a count takes the place of the last avatar.
    public static let maxAvatars = 5

    public let readers: [MessageItem.Reader]

    public init(_ readers: [MessageItem.Reader]) {
        self.readers = readers
    }

    /// The readers whose avatars are shown. A count of 1 would take the space of the avatar that it replaces.
    public var visible: ArraySlice<MessageItem.Reader> {
        readers.prefix(readers.count <= Self.maxAvatars ? Self.maxAvatars : Self.maxAvatars - 1)
    }

    /// The count of the others, such as “+3”; `nil` if there are none.
    public var moreLabel: String? {
        let count = readers.count - visible.count
        return count == 0 ? nil : "+\(count)"
    }
}
