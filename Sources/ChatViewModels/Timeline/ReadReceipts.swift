/// The read receipts in a message's row: avatars, and a count of those that do not fit.
public nonisolated struct ReadReceipts: Equatable, Sendable {
    /// With more readers, a count replaces the last avatar.
    public static let maxAvatars = 5

    public let readers: [MessageItem.Reader]

    public init(_ readers: [MessageItem.Reader]) {
        self.readers = readers
    }

    /// The readers whose avatars are displayed. A count of 1 would take as much space as the avatar that it replaces.
    public var visible: ArraySlice<MessageItem.Reader> {
        readers.prefix(readers.count <= Self.maxAvatars ? Self.maxAvatars : Self.maxAvatars - 1)
    }

    /// The count of the other readers, such as “+3”, or `nil`.
    public var moreLabel: String? {
        let count = readers.count - visible.count
        return count == 0 ? nil : "+\(count)"
    }
}
