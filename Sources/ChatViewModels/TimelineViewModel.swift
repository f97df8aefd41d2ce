public import ChatCore
public import Foundation
public import Observation

/// The messages of one room.
@Observable
public final class TimelineViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        public var items: [TimelineItem] = []
        public var members: [Member] = []
        public var isLoaded = false
        public var isLoadingOlder = false
        public var hasOlder = false
        /// The room was left or is gone.
        public var isClosed = false

        public var isEmpty: Bool { isLoaded && items.isEmpty }
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
        case failed(ChatError)
    }

    /// Messages in a page.
    public static let pageSize = 60

    public let roomID: RoomID
    public private(set) var state = State()
    @ObservationIgnored public var onOutput: ((Output) -> Void)?
    /// The message that the composer is editing.
    @ObservationIgnored public var editing: MessageID? {
        didSet { if editing != oldValue { layOut() } }
    }

    @ObservationIgnored private let service: any TimelineService & MessageService
    @ObservationIgnored private let now: () -> Date
    /// In order of position, each once.
    @ObservationIgnored private var messages: [Message] = []
    @ObservationIgnored private var unreadLineAfter: MessageID?
    @ObservationIgnored private var readUpTo: MessageID?
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
        }
    }

    public func send(_ action: Action) {
        switch action {
        case .loadOlder: loadOlder()
        case .reachedEnd: markRead()
        case .edit(let id):
            guard let item = item(id), item.canEdit else { return }
            onOutput?(.edit(id, text: item.text))
        case .editLast:
            guard let item = state.lastEditable else { return }
            onOutput?(.edit(item.id, text: item.text))
        case .delete(let id):
            guard item(id)?.canDelete == true else { return }
            perform { [roomID] service in try await service.delete(id, in: roomID) }
        case .dayChanged: layOut()
        }
    }

    /// Messages of others that came after the reader was last at the end.
    public func unreadCount(after message: MessageID?) -> Int {
        guard let message, let index = messages.lastIndex(where: { $0.id == message }) else { return 0 }
        return messages[(index + 1)...].count { $0.sender != ownID }
    }

    // MARK: Reducing

    private func receive(_ update: TimelineUpdate) {
        switch update {
        case .opened(let page, let members, let readUpTo):
            messages = page.messages
            state.members = members
            state.hasOlder = page.hasOlder
            state.isLoaded = true
            self.readUpTo = readUpTo
            // Drawn for what was unread on opening, not for what arrives under the reader's eyes.
            unreadLineAfter = page.messages.last?.id == readUpTo ? nil : readUpTo
        case .changed(let changed): merge(changed)
        case .removed(let ids):
            let gone = Set(ids)
            messages.removeAll { gone.contains($0.id) }
        case .members(let members): state.members = members
        case .typing(let typing): tellTyping(typing)
        case .closed: state.isClosed = true
        }
        layOut()
    }

    /// Each message at its position, newer knowledge replacing older. Appending, the common case, costs one step.
    private func merge(_ changed: [Message]) {
        for message in changed {
            if let last = messages.last, message.position > last.position {
                messages.append(message)
                continue
            }
            var (low, high) = (0, messages.count)
            while low < high {
                let middle = (low + high) / 2
                if messages[middle].position < message.position { low = middle + 1 } else { high = middle }
            }
            if low < messages.count, messages[low].position == message.position {
                messages[low] = message
            } else if low > 0 || !state.hasOlder {
                // Older than all that is loaded belongs to a page not loaded yet.
                messages.insert(message, at: low)
            }
        }
    }

    private func layOut() {
        let members = Dictionary(state.members.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let layout = TimelineLayout(
            members: members, ownID: ownID, unreadLineAfter: unreadLineAfter, editing: editing, now: now())
        let items = layout.items(for: messages)
        if items != state.items { state.items = items }
    }

    private func tellTyping(_ typing: [MemberID]) {
        let names = typing.map { id in state.members.first { $0.id == id }?.displayName ?? id.rawValue }
        onOutput?(.typing(names))
    }

    private func loadOlder() {
        guard state.hasOlder, !state.isLoadingOlder, let first = messages.first else { return }
        state.isLoadingOlder = true
        Task { [weak self, service, roomID] in
            let result = await Result {
                try await service.messages(in: roomID, before: first.position, limit: Self.pageSize)
            }
            guard let self else { return }
            self.state.isLoadingOlder = false
            switch result {
            case .success(let page):
                self.state.hasOlder = page.hasOlder
                self.messages.insert(
                    contentsOf: page.messages.filter { $0.position < first.position }, at: 0)
                self.layOut()
            case .failure(let error): self.onOutput?(.failed(ChatError(error)))
            }
        }
    }

    private func markRead() {
        guard let newest = messages.last?.id, newest != readUpTo else { return }
        readUpTo = newest
        perform { [roomID] service in try await service.markRead(newest, in: roomID) }
    }

    private func perform(_ work: @escaping @Sendable (any TimelineService & MessageService) async throws -> Void) {
        Task { [weak self, service] in
            do { try await work(service) } catch { self?.onOutput?(.failed(ChatError(error))) }
        }
    }

    private var ownID: MemberID? { state.members.first { $0.kind == .own }?.id }
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
