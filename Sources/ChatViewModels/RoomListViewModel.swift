public import ChatCore
public import Foundation
public import Observation

/// The list of rooms and which of them is open.
@Observable
public final class RoomListViewModel: ViewModel {
    public nonisolated struct Row: Identifiable, Equatable, Sendable {
        public nonisolated enum Preview: Equatable, Sendable {
            case none
            /// Nothing was said yet.
            case empty
            case draft(String)
            /// `sender` is nil for one's own messages and where the sender goes without saying.
            case message(sender: String?, isOwn: Bool, text: String)
        }

        public let id: RoomID
        public var name: String
        public var kind: Room.Kind
        public var preview: Preview
        public var lastActivity: Date
        public var day: RelativeDay
        public var unreadCount: Int
        /// How many of the unread messages are meant for the user.
        public var mentionCount = 0
        /// Where the room's picture is; nil without one.
        public var avatar: String?

        /// The text of the badge of mentions; nil for none.
        public var mentionLabel: String? {
            mentionCount == 0 ? nil : mentionCount == 1 ? "@" : mentionCount > 99 ? "@ 99+" : "@ \(mentionCount)"
        }
        /// The text of the unread badge; nil for none. From 100 on the number says no more.
        public var unreadLabel: String? {
            unreadCount == 0 ? nil : unreadCount > 99 ? "99+" : String(unreadCount)
        }
    }

    public nonisolated struct State: Equatable, Sendable {
        public var rows: [Row] = []
        /// The open room; nil when none is.
        public var selection: RoomID?
        /// Whether the rooms have arrived once.
        public var isLoaded = false

        public var selectedRow: Row? { rows.first { $0.id == selection } }
        public var isEmpty: Bool { isLoaded && rows.isEmpty }
        public var unreadTotal: Int { rows.reduce(0) { $0 + $1.unreadCount } }
    }

    public nonisolated enum Action: Equatable, Sendable {
        case select(RoomID?)
        /// The next or previous room in the list, by an offset; stops at the ends.
        case selectNeighbour(Int)
        case selectUnreadNeighbour(Int)
        case create(name: String)
        case rename(RoomID, to: String)
        case leave(RoomID)
        /// The wall clock moved into another day: names of days are computed anew.
        case dayChanged
    }

    public nonisolated enum Output: Equatable, Sendable {
        case opened(RoomID)
        case closed
        /// These rooms are no longer in the list.
        case gone(Set<RoomID>)
        case failed(ChatError)
    }

    public private(set) var state = State()
    @ObservationIgnored public var onOutput: ((Output) -> Void)?

    @ObservationIgnored private let service: any RoomService
    @ObservationIgnored private let now: () -> Date
    @ObservationIgnored private var summaries: [RoomSummary] = []
    @ObservationIgnored private var listening: Task<Void, Never>?
    /// The room to open when the rooms arrive.
    @ObservationIgnored private var opening: RoomID?
    /// No room was opened yet, by this or by the user.
    @ObservationIgnored private var isOpening = true
    /// A room just created, to be opened when the list shows it.
    @ObservationIgnored private var pendingSelection: RoomID?

    public init(service: any RoomService, now: @escaping () -> Date = { Date() }) {
        self.service = service
        self.now = now
    }

    isolated deinit { listening?.cancel() }

    /// Begins to follow the rooms. When they arrive `opening` is selected, or else the most recently active one.
    public func start(opening room: RoomID? = nil) {
        guard listening == nil else { return }
        opening = room
        let stream = service.roomSummaries()
        listening = Task { [weak self] in
            for await summaries in stream {
                guard let self else { return }
                self.receive(summaries)
            }
        }
    }

    public func send(_ action: Action) {
        switch action {
        case .select(let room): select(room)
        case .selectNeighbour(let offset): move(by: offset) { _ in true }
        case .selectUnreadNeighbour(let offset): move(by: offset) { $0.unreadCount > 0 }
        case .create(let name): perform { service in try await service.createRoom(named: name) }
        case .rename(let room, let name):
            perform { service in
                try await service.renameRoom(room, to: name)
                return nil
            }
        case .leave(let room):
            perform { service in
                try await service.leaveRoom(room)
                return nil
            }
        case .dayChanged:
            var next = state
            next.rows = rows()
            commit(next)
        }
    }

    // MARK: Reducing

    private func receive(_ summaries: [RoomSummary]) {
        self.summaries = summaries
        var next = state
        next.rows = rows()
        next.isLoaded = true
        // The rooms of a new account come after the first, empty list.
        if isOpening, !summaries.isEmpty {
            isOpening = false
            let wanted = summaries.first { $0.id == opening } ?? summaries.first
            if next.selection == nil { next.selection = wanted?.id }
            opening = nil
        }
        if let pending = pendingSelection, summaries.contains(where: { $0.id == pending }) {
            pendingSelection = nil
            next.selection = pending
        }
        if let selection = next.selection, !summaries.contains(where: { $0.id == selection }) { next.selection = nil }
        commit(next)
    }

    private func rows() -> [Row] {
        let now = now()
        return summaries.map { Self.row(for: $0, now: now) }
    }

    private func select(_ room: RoomID?) {
        pendingSelection = nil
        isOpening = false
        if let room, !state.rows.contains(where: { $0.id == room }) {
            pendingSelection = room
            return
        }
        var next = state
        next.selection = room
        commit(next)
    }

    private func move(by offset: Int, where isWanted: (Row) -> Bool) {
        guard offset != 0, !state.rows.isEmpty else { return }
        let step = offset > 0 ? 1 : -1
        var index = state.rows.firstIndex { $0.id == state.selection } ?? (step > 0 ? -1 : state.rows.count)
        var remaining = offset.magnitude
        var target: RoomID?
        while remaining > 0 {
            index += step
            guard state.rows.indices.contains(index) else { break }
            if isWanted(state.rows[index]) {
                target = state.rows[index].id
                remaining -= 1
            }
        }
        if let target { select(target) }
    }

    private func commit(_ next: State) {
        guard next != state else { return }
        let before = state
        state = next
        if next.selection != before.selection { onOutput?(next.selection.map { .opened($0) } ?? .closed) }
        let gone = Set(before.rows.map(\.id)).subtracting(next.rows.map(\.id))
        if !gone.isEmpty { onOutput?(.gone(gone)) }
    }

    private func perform(_ work: @escaping @Sendable (any RoomService) async throws -> RoomID?) {
        Task { [service] in
            do {
                if let created = try await work(service) { select(created) }
            } catch {
                onOutput?(.failed(ChatError(error)))
            }
        }
    }

    private static func row(for summary: RoomSummary, now: Date) -> Row {
        Row(
            id: summary.id, name: summary.room.name, kind: summary.room.kind, preview: preview(of: summary),
            lastActivity: summary.lastActivity, day: RelativeDay(summary.lastActivity, now: now),
            unreadCount: summary.unreadCount, mentionCount: summary.mentionCount, avatar: summary.room.avatar)
    }

    private static func preview(of summary: RoomSummary) -> Row.Preview {
        if let draft = summary.draftPreview.map(singleLine), draft.contains(where: { !$0.isWhitespace }) {
            return .draft(draft)
        }
        guard let last = summary.lastMessage else { return .empty }
        let sender = last.isOwn || summary.room.kind != .group ? nil : last.senderName
        return .message(sender: sender, isOwn: last.isOwn, text: singleLine(last.text))
    }

    private static func singleLine(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}

nonisolated extension ChatError {
    /// Any error as one that can be shown.
    public init(_ error: any Error) {
        self = error as? ChatError ?? .storage(reason: String(describing: error))
    }
}
