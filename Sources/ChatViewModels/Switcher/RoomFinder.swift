import Composer

/// Finds rooms and people of all accounts by any part of their names, using the index of completion.
nonisolated struct RoomFinder: Sendable {
    private let rows: [SwitcherViewModel.Row]
    private let index: CompletionIndex

    /// Builds the index off the main thread: that takes time proportional to the number of rooms.
    @concurrent
    static func over(_ rooms: SwitcherRooms) async -> RoomFinder { RoomFinder(rooms.all) }

    private init(_ rows: [SwitcherViewModel.Row]) {
        self.rows = rows
        // Rooms are identified by their index, since IDs may coincide between accounts.
        index = CompletionIndex(
            rows.enumerated().map { place, row in
                CompletionEntity(id: "\(place)", name: row.room.name, target: .room("\(place)", via: []))
            }, disambiguatesNames: false)
    }

    /// Returns the best matches by name, at most as many as the switcher shows.
    func matches(of query: String) -> [SwitcherViewModel.Row] {
        index.matches(of: query, limit: SwitcherViewModel.maxRows).compactMap { Int($0.id).map { rows[$0] } }
    }
}
