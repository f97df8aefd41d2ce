import ChatCore
import Observation

/// Provides rooms and people of all accounts to the desktop's search, but no messages: the desktop shows results to
/// anyone who sees the screen.
@MainActor
public final class DesktopSearch {
    public nonisolated struct Result: Equatable, Sendable {
        /// The text of a ``NotificationTarget``.
        public let id: String
        public let name: String
        /// The account, if there are several; empty otherwise.
        public let account: String
    }

    private let accounts: AccountsCoordinator
    /// The rooms of the current search, which the desktop narrows with each typed letter.
    private var finder: RoomFinder?

    public init(_ accounts: AccountsCoordinator) {
        self.accounts = accounts
    }

    /// Returns the IDs of the rooms whose names match all terms, best first.
    /// - Parameter previous: the results to narrow, or `nil` for a new search.
    public func results(of terms: [String], among previous: [String]?) async -> [String] {
        if previous == nil { await waitForRooms() }
        let finder: RoomFinder
        if previous != nil, let last = self.finder {
            finder = last
        } else {
            finder = await RoomFinder.over(accounts.switcherRooms)
            self.finder = finder
        }
        return finder.matches(of: terms.joined(separator: " ")).map { Self.id($0) }
    }

    /// Describes results. Omits those whose rooms are gone.
    public func describe(_ ids: [String]) -> [Result] {
        let rows = accounts.switcherRooms.all
        let byID = Dictionary(rows.map { (Self.id($0), $0) }, uniquingKeysWith: { first, _ in first })
        let names = accounts.accountNames
        return ids.compactMap { id in
            byID[id].map { row in
                Result(id: id, name: row.room.name, account: names.count > 1 ? names[row.id.account] ?? "" : "")
            }
        }
    }

    /// A search may have started the program, whose rooms are loaded a moment later.
    private func waitForRooms() async {
        let areLoaded = { [accounts] in
            accounts.coordinatorIDs.allSatisfy { accounts.coordinator(of: $0)?.rooms.state.isLoaded != false }
        }
        for await loaded in Observations({ areLoaded() }) where loaded { return }
    }

    private static func id(_ row: SwitcherViewModel.Row) -> String {
        NotificationTarget(account: row.id.account, room: row.id.room).text
    }
}
