public import ChatCore
public import Foundation
public import Observation

/// The messages of one room.
@Observable
public final class TimelineViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        public var items: [TimelineItem] = []
        /// Those who left among them, see ``Member/hasLeft``.
        public var members: [Member] = []
        public var isLoaded = false
        public var isLoadingOlder = false
        public var hasOlder = false
        /// The room was left or is gone.
        public var isClosed = false

        public var isEmpty: Bool { isLoaded && items.isEmpty }
        /// Everyone who is in the room but the user.
        public var otherMembers: [Member] { members.filter { $0.kind != .own && !$0.hasLeft } }
        /// The newest own message that can be edited.
        public var lastEditable: MessageItem? {
            items.reversed().lazy.compactMap(\.message).first { $0.canEdit }
        }
    }

    public nonisolated enum Action: Equatable, Sendable {
        /// The view is near the oldest row.
        case loadOlder
        /// The user sees the newest message.
        case reachedEnd
        case edit(MessageID)
        /// Asks to edit the newest own message (SLK-46).
        case editLast
        case delete(MessageID)
        case dayChanged
    }

    public nonisolated enum Output: Equatable, Sendable {
        case edit(MessageID, text: String)
        /// Who types now, in the order they began.
        case typing([String])
        /// The message that the composer is editing was deleted.
        case editedMessageDeleted(MessageID)
        case failed(ChatError)
    }

    /// Messages in a page.
    public static let pageSize = 60

    public let roomID: RoomID
    public private(set) var state = State()
    @ObservationIgnored public var onOutput: ((Output) -> Void)?
    /// The message that the composer is editing.
    @ObservationIgnored public var editing: MessageID? {
        didSet {
            guard editing != oldValue else { return }
            layOut()
            checkEditing()
        }
    }

    @ObservationIgnored private let service: any TimelineService & MessageService
    @ObservationIgnored private let now: () -> Date
    @ObservationIgnored private var loaded = LoadedMessages()
    /// What was told while an older page was on its way, which may not know of it.
    @ObservationIgnored private var toldWhileLoading: [TimelineUpdate] = []
    @ObservationIgnored private var openings = 0
    @ObservationIgnored private var ownID: MemberID?
    @ObservationIgnored private var unreadLineAfter: MessageID?
    /// Where the read marker is; nil if that is before all that is loaded.
    @ObservationIgnored private var readPosition: Int64?
    @ObservationIgnored private var listening: Task<Void, Never>?

    public init(
        roomID: RoomID, service: any TimelineService & MessageService, now: @escaping () -> Date = { Date() }
    ) {
        self.roomID = roomID
        self.service = service
        self.now = now
    }

    isolated deinit { listening?.cancel() }

    /// Begins to follow the room.
    public func start() {
        guard listening == nil else { return }
        let stream = service.timeline(of: roomID, limit: Self.pageSize)
        listening = Task { [weak self] in
            for await update in stream {
                guard let self else { return }
                self.receive(update)
            }
            self?.streamEnded()
        }
    }

    public func send(_ action: Action) {
        switch action {
        case .loadOlder: loadOlder()
        case .reachedEnd: markRead()
        case .edit(let id):
            guard !state.isClosed, let item = item(id), item.canEdit else { return }
            onOutput?(.edit(id, text: item.text))
        case .editLast:
            guard !state.isClosed, let item = state.lastEditable else { return }
            onOutput?(.edit(item.id, text: item.text))
        case .delete(let id):
            guard !state.isClosed, item(id)?.canDelete == true else { return }
            perform { [roomID] service in try await service.delete(id, in: roomID) }
        case .dayChanged: layOut()
        }
    }

    /// Messages of others that came after the reader was last at the end.
    public func unreadCount(after message: MessageID?) -> Int {
        guard let message, let position = loaded.position(of: message) else { return 0 }
        return loaded.messages.reversed().prefix { $0.position > position }
            .count { $0.sender != ownID && !$0.isDeleted }
    }

    // MARK: Reducing

    private func receive(_ update: TimelineUpdate) {
        switch update {
        case .opened(let page, let members, let readUpTo):
            setMembers(members)
            open(page, readUpTo: readUpTo)
        case .changed, .removed:
            if state.isLoadingOlder { toldWhileLoading.append(update) }
            apply(update)
            checkEditing(goneFrom: update)
        case .members(let members): setMembers(members)
        case .typing(let typing): return tellTyping(typing)
        case .closed:
            state.isClosed = true
            onOutput?(.typing([]))
        }
        layOut()
    }

    private func open(_ page: TimelinePage, readUpTo: MessageID?) {
        openings += 1
        toldWhileLoading = []
        loaded = LoadedMessages(newest: page)
        state.isLoaded = true
        state.isLoadingOlder = false
        state.hasOlder = page.hasOlder
        readPosition = readUpTo.flatMap { loaded.position(of: $0) }
        unreadLineAfter = isUnreadBehind(readUpTo, in: page) ? readUpTo : nil
        checkEditing()
    }

    /// The unread line is drawn for what was unread on opening, not for what arrives under the reader's eyes.
    private func isUnreadBehind(_ readUpTo: MessageID?, in page: TimelinePage) -> Bool {
        guard let readUpTo else { return false }
        guard let position = loaded.position(of: readUpTo) else { return page.hasOlder }
        return page.messages.contains { $0.position > position && $0.sender != ownID }
    }

    private func setMembers(_ members: [Member]) {
        state.members = members
        ownID = members.first { $0.kind == .own }?.id
    }

    private func apply(_ update: TimelineUpdate) {
        switch update {
        case .changed(let messages): loaded.merge(messages)
        case .removed(let ids): loaded.remove(ids)
        default: break
        }
    }

    private func streamEnded() {
        guard !state.isLoaded, !state.isClosed else { return }
        onOutput?(.failed(.storage(reason: "the messages could not be read")))
    }

    /// A message that is gone cannot be edited any more.
    private func checkEditing(goneFrom update: TimelineUpdate? = nil) {
        guard let editing else { return }
        var isGone = loaded.message(editing)?.isDeleted ?? false
        if case .removed(let ids) = update, ids.contains(editing) { isGone = true }
        if case .changed(let messages) = update, messages.contains(where: { $0.id == editing && $0.isDeleted }) {
            isGone = true
        }
        if isGone { onOutput?(.editedMessageDeleted(editing)) }
    }

    private func layOut() {
        let members = Dictionary(state.members.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let layout = TimelineLayout(
            members: members, ownID: ownID, unreadLineAfter: unreadLineAfter, editing: editing, now: now())
        let items = layout.items(for: loaded.messages)
        if items != state.items { state.items = items }
    }

    private func tellTyping(_ typing: [MemberID]) {
        let names = typing.map { id in state.members.first { $0.id == id }?.displayName ?? id.rawValue }
        onOutput?(.typing(names))
    }

    private func loadOlder() {
        guard !state.isClosed, !state.isLoadingOlder, let start = loaded.start else { return }
        state.isLoadingOlder = true
        Task { [weak self, service, roomID, openings] in
            let result = await Result {
                try await service.messages(in: roomID, before: start, limit: Self.pageSize)
            }
            // A page of what was loaded before the timeline was opened anew is of no use.
            guard let self, self.openings == openings else { return }
            self.finishLoading(result)
        }
    }

    private func finishLoading(_ result: Result<TimelinePage, any Error>) {
        state.isLoadingOlder = false
        let missed = toldWhileLoading
        toldWhileLoading = []
        switch result {
        case .success(let page):
            loaded.prepend(page)
            missed.forEach(apply)
            state.hasOlder = loaded.start != nil
            layOut()
            checkEditing()
        case .failure(let error): onOutput?(.failed(ChatError(error)))
        }
    }

    /// Forward only, each message once, and none that the backend has not acknowledged.
    private func markRead() {
        guard !state.isClosed, let newest = loaded.messages.last(where: { $0.delivery == .sent }),
            readPosition.map({ $0 < newest.position }) ?? true
        else { return }
        readPosition = newest.position
        perform { [roomID] service in try await service.markRead(newest.id, in: roomID) }
    }

    private func perform(_ work: @escaping @Sendable (any TimelineService & MessageService) async throws -> Void) {
        Task { [weak self, service] in
            do { try await work(service) } catch { self?.onOutput?(.failed(ChatError(error))) }
        }
    }

    private func item(_ id: MessageID) -> MessageItem? {
        state.items.lazy.compactMap(\.message).first { $0.id == id }
    }
}

nonisolated extension Result where Failure == any Error {
    /// The outcome of asynchronous work as a value.
    init(_ work: () async throws -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }
}
