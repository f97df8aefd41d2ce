public import ChatCore
import Observation

/// Answers the desktop's search with rooms and people of all accounts, and with nothing that anybody wrote: the desktop
/// shows its results to whoever looks at the screen.
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
    /// The rooms of the search that began last: the desktop narrows it with each letter that is typed.
    private var finder: RoomFinder?

    public init(_ accounts: AccountsCoordinator) {
        self.accounts = accounts
    }

    /// Returns the identifiers of the rooms whose names match all terms, best first.
    /// - Parameter previous: the results of the search that is narrowed, or `nil` to search anew.
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

    /// Describes results; those whose rooms have gone are left out.
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

    /// A search may have started the program: its rooms come from the store a moment later.
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
