/// The rooms that a read or a change concerns.
public enum RoomScope: Equatable, Sendable {
    case all
    case only(Set<RoomID>)

    public var isEmpty: Bool { self == .only([]) }

    public mutating func formUnion(_ other: Self) {
        guard case .only(let rooms) = self, case .only(let others) = other else { return self = .all }
        self = .only(rooms.union(others))
    }
}
