public import ChatCore
public import Foundation
public import Observation

/// The room list and the selected room.
@Observable
public final class RoomListViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        /// The joined rooms, most recently active first.
        public var rows: [Row] = []
        /// Pending invitations and knocks, newest first.
        public var invitations: [Invitation] = []
        public var invitationRows: [Row] = []
        /// The open room or invitation, or `nil` if there is none.
        public var selection: RoomID?
        /// Whether the list has been received.
        public var isLoaded = false

        /// The joined room with this ID or address.
        public func row(at address: String) -> Row? {
            rows.first { $0.id.rawValue == address || $0.address == address }
        }
        public var selectedRow: Row? { rows.first { $0.id == selection } }
        public var selectedInvitation: Invitation? { invitations.first { $0.room == selection } }
        public var isEmpty: Bool { isLoaded && rows.isEmpty && invitations.isEmpty }
        /// The unread count including invitations and rooms marked as unread, each of which counts as one.
        public var unreadTotal: Int { [rows, invitationRows].joined().reduce(0) { $0 + $1.unreadTotal } }
        /// What the selection opens, or `nil` if nothing is open.
        var open: Output? {
            // A joined room takes precedence over an invitation to it.
            if let row = selectedRow { return .opened(row.id) }
            return selectedInvitation.map { .invited($0) }
        }
    }

    public nonisolated enum Action: Equatable, Sendable {
        case select(RoomID?)
        /// Moves the selection by an offset in the list, stopping at its ends.
        case selectNeighbor(Int)
        case selectUnreadNeighbor(Int)
        case create(name: String)
        case rename(RoomID, to: String)
        case leave(RoomID)
        case reading(RoomID, ReadingAction)
        /// The date has changed: relative day names are recomputed.
        case dayChanged
    }

    /// What the user has read.
    public nonisolated enum ReadingAction: Equatable, Sendable {
        /// Marks a room as read without opening it.
        case markRead
        case markUnread
        /// Reports that the room was opened and seen, which removes its unread mark.
        case seen
    }

    public nonisolated enum Output: Equatable, Sendable {
        case opened(RoomID)
        /// An invitation was opened, or the open one has changed.
        case invited(Invitation)
        case closed
        /// These rooms were removed from the list.
        case removed(Set<RoomID>)
        /// The user could not leave a room.
        case notLeft(RoomID, ChatError)
        case failed(ChatError)
    }

    public private(set) var state = State()
    @ObservationIgnored private let onOutput: (Output) -> Void
    @ObservationIgnored private let service: any RoomService & InvitationService
    @ObservationIgnored private let now: () -> Date
    @ObservationIgnored private var summaries: [RoomSummary] = []
    @ObservationIgnored private var invitations: [Invitation] = []
    @ObservationIgnored private var lines: PreviewLines
    @ObservationIgnored private var roomRows = RoomRows()
    /// The number of rows derived so far.
    package var derivedRowCount: Int { roomRows.derivedCount }
    @ObservationIgnored private var listening: [Task<Void, Never>] = []
    /// The rooms that the user leaves, or has left, in this window: they were asked about what was unsent.
    @ObservationIgnored private(set) var leaving: Set<RoomID> = []
    @ObservationIgnored private var target = SelectionTarget.initial(nil)
    /// The user's last choice of a room.
    @ObservationIgnored private(set) var lastChoice: UserChoice?

    /// - Parameter readsPlainTexts: see ``BackendCapabilities/plainTexts``.
    public init(
        service: any RoomService & InvitationService, readsPlainTexts: Bool = false,
        now: @escaping () -> Date = { Date() }, onOutput: @escaping (Output) -> Void = { _ in }
    ) {
        self.service = service
        self.onOutput = onOutput
        lines = PreviewLines(readsPlainTexts: readsPlainTexts)
        self.now = now
    }

    isolated deinit { for task in listening { task.cancel() } }

    /// Subscribes to the rooms. When they arrive, selects `room`, or the most recently active one if it is not listed.
    public func start(opening room: RoomID? = nil) {
        guard listening.isEmpty else { return }
        if case .initial = target { target = .initial(room) }
        let (summaries, invitations) = (service.roomSummaries(), service.invitations())
        listening = [
            Task { [weak self] in
                for await summaries in summaries {
                    guard let lines = self?.lines else { return }
                    let updatedLines = await lines.adding(summaries)
                    guard let self else { return }
                    self.lines = updatedLines
                    self.receive(summaries)
                }
            },
            Task { [weak self] in
                for await invitations in invitations {
                    guard let self else { return }
                    self.receive(invitations)
                }
            },
        ]
    }

    public func send(_ action: Action) {
        switch action {
        case .select(let room): select(room)
        case .selectNeighbor(let offset): move(by: offset) { _ in true }
        case .selectUnreadNeighbor(let offset): move(by: offset) { $0.isUnread }
        case .create(let name): create(named: name)
        case .rename(let room, let name):
            perform { service in
                try await service.renameRoom(room, to: name)
                return nil
            }
        case .leave(let room):
            leaving.insert(room)
            Task { [service] in
                do {
                    try await service.leaveRoom(room)
                } catch {
                    leaving.remove(room)
                    onOutput(.notLeft(room, ChatError(error)))
                }
            }
        case .reading(let room, let action): perform(action, on: room)
        case .dayChanged:
            roomRows.invalidate()
            refresh()
        }
    }

    /// Creates a room and opens it.
    /// - Parameter opening: called with the room once it is selected; it opens as soon as it is listed.
    public func create(named name: String, opening: @escaping @MainActor (RoomID) -> Void = { _ in }) {
        perform({ service in try await service.createRoom(named: name) }, opening: opening)
    }

    private func perform(_ action: ReadingAction, on room: RoomID) {
        let row = state.rows.first { $0.id == room }
        switch action {
        case .markRead:
            perform { service in
                try await service.markAllRead(in: room)
                return nil
            }
        case .seen where row?.isMarkedUnread != true: break
        case .markUnread, .seen:
            let isMarked = action == .markUnread
            perform { service in
                try await service.setMarkedUnread(isMarked, in: room)
                return nil
            }
        }
    }

    // MARK: Reducing

    private func receive(_ summaries: [RoomSummary]) {
        if !leaving.isEmpty {
            // Those that the user has joined again.
            leaving.subtract(Set(summaries.map(\.id)).subtracting(self.summaries.map(\.id)))
        }
        self.summaries = summaries
        refresh { next in
            next.isLoaded = true
            next.selection = target.resolve(in: summaries.map(\.id), current: next.selection)
            if next.open == nil { next.selection = nil }
        }
    }

    private func receive(_ invitations: [Invitation]) {
        self.invitations = invitations
        refresh { next in
            guard let selection = next.selection, next.open == nil else { return }
            // After accepting, the invitation disappears before the room is listed.
            target = .room(selection)
            next.selection = nil
        }
    }

    /// Derives the rows from the received rooms and invitations, and reports what has changed.
    /// - Parameter select: updates the selection according to the new rows.
    private func refresh(_ select: (inout State) -> Void = { _ in }) {
        var next = state
        next.rows = rows(opening: next.selection)
        next.invitations = invitations
        next.invitationRows = invitations.map { Row($0, now: now()) }
        select(&next)
        commit(next)
    }

    /// - Parameter room: the open room, whose row shows no draft because the composer does.
    private func rows(opening room: RoomID?) -> [Row] {
        roomRows.update(summaries, lines: lines, opening: room, now: now())
        return roomRows.rows
    }

    /// Selects a room once it is listed.
    /// - Parameter choice: when the user chose it; `nil` if the user is there already.
    func select(_ room: RoomID?, as choice: UserChoice? = UserChoice()) {
        if let choice, !choice.isOutdated(by: lastChoice) { lastChoice = choice }
        target = .none
        var next = state
        next.selection = room
        if let room, next.open == nil {
            target = .room(room)
        } else {
            commit(next)
        }
    }

    private func move(by offset: Int, where isIncluded: (Row) -> Bool) {
        let rows = state.sections.flatMap(\.rows)
        guard offset != 0, !rows.isEmpty else { return }
        let step = offset > 0 ? 1 : -1
        var index = rows.firstIndex { $0.id == state.selection } ?? (step > 0 ? -1 : rows.count)
        var remaining = offset.magnitude
        var target: RoomID?
        while remaining > 0 {
            index += step
            guard rows.indices.contains(index) else { break }
            if isIncluded(rows[index]) {
                target = rows[index].id
                remaining -= 1
            }
        }
        if let target { select(target) }
    }

    private func commit(_ next: State) {
        guard next != state else { return }
        let before = state
        var next = next
        if next.selection != before.selection { next.rows = rows(opening: next.selection) }
        state = next
        if next.open != before.open { onOutput(next.open ?? .closed) }
        guard !next.isArranged(as: before) else { return }
        let removed = Set(before.rows.map(\.id)).subtracting(next.rows.map(\.id))
        if !removed.isEmpty { onOutput(.removed(removed)) }
    }

    private func perform(
        _ work: @escaping @Sendable (any RoomService) async throws -> RoomID?,
        opening: @escaping @MainActor (RoomID) -> Void = { _ in }
    ) {
        Task { [service] in
            do {
                if let created = try await work(service) {
                    select(created)
                    opening(created)
                }
            } catch {
                onOutput(.failed(ChatError(error)))
            }
        }
    }
}
