/// The rooms and invitations of all accounts to choose from. Holds the accounts' lists, so that creating it costs
/// nothing per room.
nonisolated struct SwitcherRooms: Sendable {
    /// Rooms of one account.
    struct List: Sendable {
        let account: String
        /// The account's name, if there are several accounts.
        var accountName: String?
        let rooms: [RoomListViewModel.Row]
    }

    private struct Place {
        let list: Int
        let index: Int
    }

    private let lists: [List]

    init(_ lists: [List]) { self.lists = lists }

    /// All of them. Takes time proportional to their number.
    var all: [SwitcherViewModel.Row] {
        lists.indices.flatMap { list in lists[list].rooms.indices.map { row(at: Place(list: list, index: $0)) } }
    }

    private func row(at place: Place) -> SwitcherViewModel.Row {
        let list = lists[place.list]
        var room = list.rooms[place.index]
        // Accounts may have rooms with the same name.
        if let name = list.accountName { room.preview = .account(name) }
        return SwitcherViewModel.Row(id: .init(account: list.account, room: room.id), room: room)
    }

    /// Unread rooms first, then by last activity. Reads counts and times of all rooms, and copies only those it
    /// returns.
    func suggestions(atMost limit: Int) -> [SwitcherViewModel.Row] {
        var best: [Place] = []
        best.reserveCapacity(limit + 1)
        for list in lists.indices {
            for index in lists[list].rooms.indices {
                let place = Place(list: list, index: index)
                if best.count == limit, let last = best.last, !precedes(place, last) { continue }
                best.insert(place, at: best.firstIndex { precedes(place, $0) } ?? best.endIndex)
                if best.count > limit { best.removeLast() }
            }
        }
        return best.map { row(at: $0) }
    }

    private func precedes(_ a: Place, _ b: Place) -> Bool {
        let isUnread = lists[a.list].rooms[a.index].unreadCount > 0
        let isOtherUnread = lists[b.list].rooms[b.index].unreadCount > 0
        guard isUnread == isOtherUnread else { return isUnread }
        return lists[a.list].rooms[a.index].lastActivity > lists[b.list].rooms[b.index].lastActivity
    }
}
