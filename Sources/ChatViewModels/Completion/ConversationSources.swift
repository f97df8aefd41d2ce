public import ChatCore
import Composer

/// The sources that an open conversation's composer completes from: members for `@`, rooms for `#`.
public final class ConversationSources {
    private weak var coordinator: ConversationCoordinator?
    private let everyone: String?
    private let rooms = CompletionDirectory()
    private var roomNames: [String] = []
    private var members: [RoomID: (directory: CompletionDirectory, told: [Member])] = [:]

    /// - Parameter everyone: what the row of `@room` says, as "Everyone in this room"; nil for no such row.
    public init(of coordinator: ConversationCoordinator, everyone: String?) {
        self.coordinator = coordinator
        self.everyone = everyone
    }

    public func sources(for room: RoomID) -> [any CompletionSource] {
        let directory = members[room]?.directory ?? CompletionDirectory()
        members[room] = (directory, members[room]?.told ?? [])
        return [
            DirectorySource(prefix: "@", directory: directory) { [weak self] in self?.refresh($0, for: room) },
            DirectorySource(prefix: "#", directory: rooms) { [weak self] in self?.refreshRooms($0) },
        ]
    }

    private func refresh(_ directory: CompletionDirectory, for room: RoomID) {
        guard let conversation = coordinator?.conversation, conversation.roomID == room else { return }
        let state = conversation.timeline.state
        // A big room's members come as they speak: whoever names one may mean any.
        coordinator?.loadMembers(of: room)
        directory.setRecent(Self.recentSenders(conversation.timeline.rows))
        // Arrays that share their storage are equal, which costs nothing; of a new one nothing is compared here.
        guard !(members[room]?.told.hasStorage(of: state.members) ?? false) else { return }
        members[room]?.told = state.members
        let (members, everyone) = (state.members, everyone)
        directory.set { MemberDirectory.index(of: members, everyone: everyone) }
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
