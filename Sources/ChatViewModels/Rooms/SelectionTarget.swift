import ChatCore

/// The room that is to be selected as soon as it is listed.
nonisolated enum SelectionTarget: Equatable, Sendable {
    case none
    /// When the list arrives, this room, or else the most recently active one.
    case initial(RoomID?)
    case room(RoomID)

    /// - Parameters:
    ///   - rooms: the listed rooms, most recently active first.
    ///   - current: the present selection.
    /// - Returns: the room to select.
    mutating func resolve(in rooms: [RoomID], current: RoomID?) -> RoomID? {
        switch self {
        case .none: return current
        case .initial(let room):
            // A new account's first list is empty; wait for one with rooms.
            guard let first = rooms.first else { return current }
            self = .none
            return current ?? rooms.first { $0 == room } ?? first
        case .room(let room):
            guard rooms.contains(room) else { return current }
            self = .none
            return room
        }
    }
}
