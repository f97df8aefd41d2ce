import ChatCore
import ComposerSessions

/// Finds the rooms of an account whose notifications by an earlier process are outdated: those that were read since.
/// Some desktops retain notifications, and none says which there are.
@MainActor
final class EarlierNotifications {
    /// The time between two batches of withdrawals, and before the first one, as each is a message on the bus.
    static let interval = Duration.seconds(1)
    private static let batchSize = 100

    private let time: Timekeeper
    private let summary: RoomID
    private let withdraw: @MainActor ([RoomID]) -> Void
    /// The rooms with unread messages in the last list; `nil` before the first one.
    private var unread: Set<RoomID>?
    /// Withdraws those of the rooms that were read before the first list.
    private var clearing: Task<Void, Never>?

    /// - Parameters:
    ///   - summary: stands for the summary among the rooms.
    ///   - withdraw: withdraws the notifications of those of these rooms that have no newer one.
    init(time: Timekeeper, summary: RoomID, withdraw: @escaping @MainActor ([RoomID]) -> Void) {
        self.time = time
        self.summary = summary
        self.withdraw = withdraw
    }

    isolated deinit { clearing?.cancel() }

    /// Call this with each loaded list.
    func receive(_ state: RoomListViewModel.State) {
        let listed = Set(state.rows.filter { $0.unreadCount > 0 }.map(\.id))
        let before = unread
        unread = listed
        if let before {
            let read = before.subtracting(listed)
            if !read.isEmpty { withdraw(Array(read)) }
        } else {
            clear(state.rows.map(\.id).filter { !listed.contains($0) })
        }
        if listed.isEmpty, before?.isEmpty != true { withdraw([summary]) }
    }

    private func clear(_ rooms: [RoomID]) {
        clearing = Task { [weak self, time] in
            var rest = rooms[...]
            while !rest.isEmpty {
                do { try await time.sleep(time.now() + Self.interval) } catch { return }
                guard let self, !Task.isCancelled else { return }
                self.withdraw(Array(rest.prefix(Self.batchSize)))
                rest = rest.dropFirst(Self.batchSize)
            }
        }
    }
}
