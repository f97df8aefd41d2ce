public import ChatCore
import Composer

/// The sources that an open conversation's composer completes from: members for `@`, rooms for `#`.
public final class ConversationSources {
    private weak var coordinator: ConversationCoordinator?
    private let everyone: String?
    private let rooms = CompletionDirectory()
    private var roomNames: [String] = []
    private var members: [RoomID: Members] = [:]

    private struct Members {
        /// For `@`, with the row of everyone.
        let all = CompletionDirectory()
        /// For a name alone: nobody means everyone by a word.
        let named = CompletionDirectory()
        var snapshot = Snapshot()
    }

    /// - Parameter everyone: what the row of `@room` says, as "Everyone in this room"; nil for no such row.
    public init(of coordinator: ConversationCoordinator, everyone: String?) {
        self.coordinator = coordinator
        self.everyone = everyone
    }

    public func sources(for room: RoomID) -> [any CompletionSource] {
        let directories = members[room] ?? Members()
        members[room] = directories
        return [
            DirectorySource(prefix: "@", directory: directories.all) { [weak self] _ in
                // A big room's members come as they speak: whoever names one may mean any.
                self?.coordinator?.loadMembers(of: room)
                self?.refreshMembers(of: room)
            },
            DirectorySource(prefix: "", directory: directories.named) { [weak self] _ in self?.refreshMembers(of: room)
            },
            DirectorySource(prefix: "#", directory: rooms) { [weak self] in self?.refreshRooms($0) },
        ]
    }

    private func refreshMembers(of room: RoomID) {
        guard let conversation = coordinator?.conversation, conversation.roomID == room, let directories = members[room]
        else {
            return
        }
        let state = conversation.timeline.state
        let recent = Self.recentSenders(conversation.timeline.rows)
        directories.all.setRecent(recent)
        directories.named.setRecent(recent)
        let everyone = coordinator?.mayNotifyEveryone(in: room) ?? false ? everyone : nil
        // Arrays that share their storage are equal, which costs nothing; of a new one nothing is compared here.
        let snapshot = directories.snapshot
        guard snapshot.everyone != everyone || !snapshot.members.hasStorage(of: state.members) else { return }
        self.members[room]?.snapshot = Snapshot(members: state.members, everyone: everyone)
        let members = state.members
        directories.all.set { MemberDirectory.index(of: members, everyone: everyone) }
        directories.named.set { MemberDirectory.index(of: members, everyone: nil) }
    }

    /// What a directory was made of.
    private struct Snapshot {
        var members: [Member] = []
        var everyone: String?
    }

    /// Who spoke lately, the last one first.
    private static func recentSenders(_ items: TimelineRows) -> [String] {
        var senders: [String] = []
        for message in items.suffix(100).reversed().lazy.compactMap(\.message) where !message.isOwn {
            let sender = message.senderID.rawValue
            if !senders.contains(sender) { senders.append(sender) }
        }
        return senders
    }

    private func refreshRooms(_ directory: CompletionDirectory) {
        guard let rows = coordinator?.rooms.state.rows else { return }
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
