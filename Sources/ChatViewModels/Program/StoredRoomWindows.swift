import ChatCore
import Foundation

/// The stored list of rooms with windows of their own, and their sizes.
public nonisolated struct StoredRoomWindows: Equatable, Sendable {
    public nonisolated struct Size: Equatable, Sendable, Codable {
        /// In logical pixels, unmaximized.
        public var width: Int
        public var height: Int
        public var isMaximized: Bool

        public init(width: Int, height: Int, isMaximized: Bool = false) {
            self.width = width
            self.height = height
            self.isMaximized = isMaximized
        }
    }

    private nonisolated struct Entry: Equatable, Sendable, Codable {
        let account: String
        let room: String
        var size: Size?
        var isOpen: Bool

        var id: AccountRoom { AccountRoom(account, RoomID(room)) }
    }

    /// The maximum number of closed windows whose sizes are stored.
    static let maxClosed = 50

    /// In the order in which the windows were last opened or closed.
    private var entries: [Entry] = []

    public init() {}

    /// - Parameter texts: see ``texts``. Malformed ones, from a newer version, are ignored.
    public init(_ texts: [String]) {
        let decoder = JSONDecoder()
        // A malformed entry's window is not restored; its room and draft are unaffected.
        entries = texts.compactMap { try? decoder.decode(Entry.self, from: Data($0.utf8)) }
    }

    /// One text per window. As JSON, since identifiers come from servers and may contain any separator.
    public var texts: [String] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // Texts and numbers can always be encoded.
        return entries.compactMap { (try? encoder.encode($0)).map { String(decoding: $0, as: UTF8.self) } }
    }

    /// The rooms with open windows, in the order in which those were opened.
    public var open: [AccountRoom] { entries.filter(\.isOpen).map(\.id) }

    /// The size of a window, or `nil` if the room never had one.
    public func size(of room: AccountRoom) -> Size? { entries.first { $0.id == room }?.size }

    public mutating func noteOpened(_ room: AccountRoom) {
        guard !open.contains(room) else { return }
        replace(room, size: size(of: room), isOpen: true)
    }

    /// Call this when the user has closed the window, or the room is gone.
    public mutating func noteClosed(_ room: AccountRoom) { replace(room, size: size(of: room), isOpen: false) }

    public mutating func setSize(_ size: Size, of room: AccountRoom) {
        guard let index = entries.firstIndex(where: { $0.id == room }) else { return }
        entries[index].size = size
    }

    private mutating func replace(_ room: AccountRoom, size: Size?, isOpen: Bool) {
        entries.removeAll { $0.id == room }
        entries.append(Entry(account: room.account, room: room.room.rawValue, size: size, isOpen: isOpen))
        while entries.count(where: { !$0.isOpen }) > Self.maxClosed,
            let oldest = entries.firstIndex(where: { !$0.isOpen })
        {
            entries.remove(at: oldest)
        }
    }
}
