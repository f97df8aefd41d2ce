import ChatCore
public import ComposerSessions

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

    /// How long a search waits for rooms. Those of an account may never be loaded, as if its storage fails.
    private static let loadingTime = Duration.seconds(10)

    private let accounts: AccountsCoordinator
    private let time: Timekeeper
    /// The rooms of the current search, which the desktop narrows with each typed letter.
    private var finder: RoomFinder?

    public init(_ accounts: AccountsCoordinator, time: Timekeeper = .continuous) {
        self.accounts = accounts
        self.time = time
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
        await time.wait(atMost: Self.loadingTime) { [accounts] in
            accounts.coordinatorIDs.allSatisfy { accounts.coordinator(of: $0)?.rooms.state.isLoaded != false }
        }
    }

    private static func id(_ row: SwitcherViewModel.Row) -> String {
        NotificationTarget(account: row.id.account, room: row.id.room).text
    }
}
