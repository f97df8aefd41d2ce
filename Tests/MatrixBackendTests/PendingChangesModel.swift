import ChatCore
import ChatStore
import ChatTestSupport
import Composer
import Foundation
import ToolSupport

@testable import ChatOutbox
@testable import MatrixBackend

/// A randomized model of a room of own messages: the outbox, the server and the store each advance at random. The
/// expected timeline is computed from the lists alone.
struct PendingChangesModel {
    struct Seen: Equatable {
        var text = ""
        var isDeleted = false
        var hasReaction = false
        var isRejected = false
    }

    private struct Entry {
        var change: MessageChange
        /// Whether a sync has delivered it to the store.
        var isKnown = false
        /// The time that the store got from the server's response, before the sync.
        var acknowledgedAt: Date?

        var displayedAt: Date { acknowledgedAt ?? change.at }
    }

    private static let room = RoomID("!room")
    private static let own = MemberID("@me:a")
    private static let heart = "❤️"
    private static let count = 3

    private let folder = TemporaryFolder()
    private let store: ChatStore
    private var random: SeededGenerator
    private var book = PendingChanges()
    private var queue: [OutboxItem] = []
    private var log: [Entry] = []
    private var deliveredCount = 0
    private var number = 0

    init(seed: UInt64) async throws {
        random = SeededGenerator(seed: seed)
        store = try await ChatStore.open(in: folder.path("store"))
        let messages = (0..<Self.count).map { place in
            TimelineEvent.message(
                NewMessage(id: Self.id(place), sender: Self.own, text: "first", sentAt: Self.time(Int64(place))))
        }
        let batch = RoomBatch(id: Self.room, createdAt: Self.time(0), events: messages)
        _ = try await store.apply(SyncBatch(rooms: [batch]))
    }

    private static func id(_ place: Int) -> MessageID { MessageID("$\(place)") }
    private static func time(_ seconds: Int64) -> Date { Date(timeIntervalSince1970: 1_000 + Double(seconds)) }

    // MARK: Random steps

    mutating func act() async throws {
        number += 1
        switch Int.random(in: 0..<12, using: &random) {
        case 0...3: try await actHere()
        case 4, 5: try await deliver(syncFirst: false)
        case 6: try await deliver(syncFirst: true)
        case 7: reject()
        case 8: decide()
        case 9: try await sync()
        case 10: actElsewhere()
        // Simulate a restart.
        default:
            book = PendingChanges()
            _ = book.update(queue, in: Self.room)
        }
    }

    mutating func deliverAll() async throws {
        while queue.contains(where: { !$0.isFailed }) {
            number += 1
            try await deliver(syncFirst: false)
        }
        try await sync()
    }

    private mutating func actHere() async throws {
        let place = Int.random(in: 0..<Self.count, using: &random)
        let target = OutboxTarget.message(Self.id(place))
        let now = try await displayed()[place]
        guard !now.isDeleted else { return }
        let action: OutboxAction
        switch Int.random(in: 0..<8, using: &random) {
        case 0: action = .delete(target)
        case 1...4: action = .edit(target, WrittenText("edit \(number)"))
        default: action = .react(target, text: Self.heart, isGiven: !now.hasReaction)
        }
        let request = OutboxRequest(
            id: TransactionID("t\(number)"), room: Self.room, action: action, queuedAt: Self.time(Int64(number)))
        queue.append(OutboxItem(request: request, state: .waiting, isOverdue: false))
        _ = book.update(queue, in: Self.room)
    }

    /// Delivers the first queued request; its response arrives before or after the sync that contains it.
    private mutating func deliver(syncFirst: Bool) async throws {
        guard let first = queue.firstIndex(where: { !$0.isFailed }) else { return }
        let request = queue[first].request
        let place = Self.place(of: request)
        if let change = change(by: request, of: place) {
            log.append(Entry(change: change))
            let entry = log.count - 1
            if syncFirst { try await sync() }
            // The local clock differs from the server's.
            var acknowledged = change
            acknowledged.at = change.at.addingTimeInterval(Double(Int.random(in: -2...2, using: &random)))
            let latest = edits(of: place, in: log.filter(\.isKnown)).last
            _ = try await store.apply(acknowledged, in: Self.room)
            if !log[entry].isKnown {
                log[entry].acknowledgedAt = max(acknowledged.at, (latest?.displayedAt ?? .distantPast) + 0.001)
            }
            log[entry].isKnown = true
        }
        queue.remove(at: first)
        _ = book.update(queue, in: Self.room)
    }

    private static func place(of request: OutboxRequest) -> Int {
        guard case .message(let id)? = request.action.target else { return 0 }
        return Int(id.rawValue.dropFirst()) ?? 0
    }

    /// Returns the change that a request causes on the server, or `nil` if there is none.
    private func change(by request: OutboxRequest, of place: Int) -> MessageChange? {
        guard !isDeleted(place, in: log) else { return nil }
        var target = Self.id(place)
        let kind: MessageChange.Kind
        switch request.action {
        case .send, .unreadable: return nil
        case .edit(_, let text): kind = .edit(Wording(text.source))
        case .delete: kind = .deletion
        case .react(_, let text, true):
            guard heartReactions(of: place, in: log).isEmpty else { return nil }
            kind = .reaction(text)
        case .react:
            guard let given = heartReactions(of: place, in: log).first else { return nil }
            target = MessageID(given)
            kind = .deletion
        }
        return MessageChange(
            id: "$e\(number)", target: target, sender: Self.own, at: Self.time(Int64(number)), kind: kind)
    }

    private mutating func reject() {
        guard let first = queue.firstIndex(where: { !$0.isFailed }) else { return }
        queue[first].state = .failed(reason: "403")
        _ = book.update(queue, in: Self.room)
    }

    /// Retries or discards the first rejected request.
    private mutating func decide() {
        guard let first = queue.firstIndex(where: { $0.isFailed }) else { return }
        if Bool.random(using: &random) { queue[first].state = .waiting } else { queue.remove(at: first) }
        _ = book.update(queue, in: Self.room)
    }

    private mutating func sync() async throws {
        // A sync may repeat events.
        let start = max(0, deliveredCount - (Bool.random(using: &random) ? 2 : 0))
        let batch = RoomBatch(
            id: Self.room, createdAt: Self.time(0), events: log[start...].map { .change($0.change) })
        _ = try await store.apply(SyncBatch(rooms: [batch]))
        for place in log.indices[start...] {
            log[place].isKnown = true
            log[place].acknowledgedAt = nil
        }
        deliveredCount = log.count
    }

    /// Another client of the user edits a message, or deletes an edit or a reaction.
    private mutating func actElsewhere() {
        let place = Int.random(in: 0..<Self.count, using: &random)
        guard !isDeleted(place, in: log) else { return }
        var target = Self.id(place)
        var kind = MessageChange.Kind.edit(Wording("elsewhere \(number)"))
        if Int.random(in: 0..<3, using: &random) > 0,
            let change = (edits(of: place, in: log).map(\.change.id) + heartReactions(of: place, in: log))
                .randomElement(using: &random)
        {
            target = MessageID(change)
            kind = .deletion
        }
        let change = MessageChange(
            id: "$e\(number)", target: target, sender: Self.own, at: Self.time(Int64(number)), kind: kind)
        log.append(Entry(change: change))
    }

    // MARK: The expected timeline

    func displayed() async throws -> [Seen] {
        try await store.messages((0..<Self.count).map(Self.id), in: Self.room).map { message in
            let displayed = book.displayed(message, by: Self.own)
            return Seen(
                text: displayed.text, isDeleted: displayed.isDeleted, hasReaction: !displayed.reactions.isEmpty,
                isRejected: displayed.pendingChange?.isRejected ?? false)
        }
    }

    func expected() -> [Seen] {
        let known = log.filter(\.isKnown)
        return (0..<Self.count).map { place in
            var seen = Seen(text: edits(of: place, in: known).last.map(Self.text) ?? "first")
            seen.hasReaction = !heartReactions(of: place, in: known).isEmpty
            if isDeleted(place, in: known) { seen = Seen(isDeleted: true) }
            let items = queue.filter { Self.place(of: $0.request) == place }
            for item in items where !item.isFailed && !seen.isDeleted {
                switch item.request.action {
                case .send, .unreadable: break
                case .edit(_, let text): seen.text = text.source
                case .delete: seen = Seen(isDeleted: true)
                case .react(_, _, let isGiven): seen.hasReaction = isGiven
                }
            }
            seen.isRejected = !items.isEmpty && items.allSatisfy(\.isFailed)
            return seen
        }
    }

    private static func text(_ entry: Entry) -> String {
        guard case .edit(let wording) = entry.change.kind else { return "" }
        return wording.text
    }

    private func isDeleted(_ place: Int, in log: [Entry]) -> Bool {
        log.contains { $0.change.kind == .deletion && $0.change.target == Self.id(place) }
    }

    private func isRemoved(_ id: String, in log: [Entry]) -> Bool {
        log.contains { $0.change.kind == .deletion && $0.change.target == MessageID(id) }
    }

    /// Returns the edits in effect, the latest last.
    private func edits(of place: Int, in log: [Entry]) -> [Entry] {
        log.filter { entry in
            guard case .edit = entry.change.kind, entry.change.target == Self.id(place) else { return false }
            return !isRemoved(entry.change.id, in: log)
        }.sorted { ($0.displayedAt, $0.change.id) < ($1.displayedAt, $1.change.id) }
    }

    private func heartReactions(of place: Int, in log: [Entry]) -> [String] {
        log.filter { entry in
            guard case .reaction = entry.change.kind, entry.change.target == Self.id(place) else { return false }
            return !isRemoved(entry.change.id, in: log)
        }.map(\.change.id)
    }
}
