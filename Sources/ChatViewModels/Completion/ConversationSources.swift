import ChatCore
import Composer
import ComposerSessions

/// The completion sources of an open conversation: members for `@`, rooms for `#`.
final class ConversationSources {
    private let list: RoomListViewModel
    private let openRooms: OpenRooms
    private let memberLists: MemberLists
    private let everyone: String?
    private let rooms = CompletionDirectory()
    /// The rows that ``roomNames`` are of.
    private var roomRows: [RoomListViewModel.Row] = []
    private var roomNames: [String] = []
    /// The number of times that the names of all rooms were read.
    private(set) var roomReadCount = 0
    private var members: [RoomID: Members] = [:]

    private struct Members {
        /// For `@`, including the row for everyone.
        let all = CompletionDirectory()
        /// For names without `@`, which never mention everyone.
        let named = CompletionDirectory()
        var snapshot = Snapshot()
    }

    /// - Parameter everyone: the description of the `@room` row, such as "Everyone in this room"; `nil` for no such
    ///   row.
    init(rooms: RoomListViewModel, openRooms: OpenRooms, members: MemberLists, everyone: String?) {
        list = rooms
        self.openRooms = openRooms
        memberLists = members
        self.everyone = everyone
    }

    func sources(for room: RoomID) -> [any CompletionSource] {
        let directories = members[room] ?? Members()
        members[room] = directories
        return [
            // Members are loaded lazily, but a mention may be of any of them.
            DirectorySource(
                prefix: "@", directory: directories.all, refresh: { [weak self] _ in self?.refreshMembers(of: room) },
                arrivals: { [weak self] _ in
                    guard let loading = self?.memberLists.load(room) else { return nil }
                    return { [weak self] in
                        await loading.value
                        self?.refreshMembers(of: room)
                    }
                }),
            // Answers at once, as a list that nobody asked for must not wait.
            DirectorySource(prefix: "", directory: directories.named) { [weak self] _ in
                self?.memberLists.load(room)
                self?.refreshMembers(of: room)
            },
            DirectorySource(prefix: "#", directory: rooms) { [weak self] in self?.refreshRooms($0) },
        ]
    }

    /// Discards the indexes of members. The next query rebuilds them.
    func forgetMembers() {
        for room in members.keys {
            members[room]?.all.clear()
            members[room]?.named.clear()
            members[room]?.snapshot = Snapshot()
        }
    }

    /// Discards what is known of rooms that are gone, and whose composers are.
    func forget(_ rooms: Set<RoomID>) {
        for room in rooms { members[room] = nil }
    }

    private func refreshMembers(of room: RoomID) {
        guard let conversation = openRooms.conversation(in: room), let directories = members[room] else { return }
        let members = conversation.timeline.members
        let recent = Self.recentSenders(conversation.timeline.rows)
        directories.all.setRecent(recent)
        directories.named.setRecent(recent)
        let everyone = memberLists.mayNotifyEveryone(in: room) ? everyone : nil
        // Compare storage identity, which takes constant time, instead of the elements.
        let snapshot = directories.snapshot
        guard snapshot.everyone != everyone || !snapshot.members.hasStorage(of: members) else { return }
        self.members[room]?.snapshot = Snapshot(members: members, everyone: everyone)
        directories.all.set { MemberDirectory.index(of: members, everyone: everyone) }
        directories.named.set { MemberDirectory.index(of: members, everyone: nil) }
    }

    /// The input of a directory's index.
    private struct Snapshot {
        var members: [Member] = []
        var everyone: String?
    }

    /// The most recent senders, newest first.
    private static func recentSenders(_ items: TimelineRows) -> [String] {
        var senders: [String] = []
        for message in items.suffix(100).reversed().lazy.compactMap(\.message) where !message.isOwn {
            let sender = message.sender.rawValue
            if !senders.contains(sender) { senders.append(sender) }
        }
        return senders
    }

    private func refreshRooms(_ directory: CompletionDirectory) {
        let rows = list.state.rows
        // As for members: the list rarely changes from one letter to the next.
        guard !rows.hasStorage(of: roomRows) else { return }
        roomRows = rows
        roomReadCount += 1
        let names = rows.flatMap { [$0.address ?? $0.id.rawValue, $0.name] }
        guard names != roomNames else { return }
        roomNames = names
        directory.set { RoomDirectory.index(of: rows) }
    }
}

nonisolated extension Array {
    fileprivate func hasStorage(of other: [Element]) -> Bool {
        count == other.count
            && withUnsafeBufferPointer { mine in other.withUnsafeBufferPointer { $0.baseAddress == mine.baseAddress } }
    }
}
