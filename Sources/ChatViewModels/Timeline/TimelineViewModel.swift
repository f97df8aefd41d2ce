public import ChatCore
public import Composer
public import Foundation
public import Observation

/// The backend services that a timeline needs.
public typealias TimelineBackend = TimelineService & MessageService & ScrollPositionService & AnnotationService
    & RoomCapabilityService

/// The messages of one room: holds a contiguous range of them in memory and lays it out in ``rows``.
///
/// The range follows the scroll position: pages are added at its ends, and messages far away are dropped. It includes
/// the newest message unless it is detached (``State/isDetached``).
@Observable
public final class TimelineViewModel: ViewModel {
    /// Everything but the rows, whose changes are reported through ``onEffect``.
    public nonisolated struct State: Equatable, Sendable {
        /// All known members, including those who have left (``Member/hasLeft``).
        public var members: [Member] = []
        public var isLoaded = false
        /// Whether the room has no messages.
        public var isEmpty = false
        public var hasOlder = false
        /// Whether newer messages exist beyond the loaded ones.
        public var isDetached = false
        /// The request in flight; at most one at a time.
        public var loading: Loading?
        /// Whether the room was left or no longer exists.
        public var isClosed = false
        /// The number of messages selected for a bulk action.
        public var selectedCount = 0
        /// Whether all selected messages are the user's own.
        public var canDeleteSelected = false

        /// The number of the user's messages that failed to send.
        public var failedCount = 0

        /// The joined members other than the user.
        public var otherMembers: [Member] { members.filter { $0.kind != .own && !$0.hasLeft } }
    }

    public nonisolated enum Loading: Equatable, Sendable {
        case page(TimelineEdge)
        case jump(Destination)
    }

    /// A jump target.
    public nonisolated enum Destination: Equatable, Sendable {
        case message(MessageID)
        /// The first message sent at or after this time.
        case date(Date)
        /// The unread line.
        case firstUnread
        /// The room's first message.
        case oldest
        case newest
    }

    public nonisolated enum Action: Equatable, Sendable {
        /// The view has scrolled close to an end of the loaded messages.
        case load(TimelineEdge)
        case jump(Destination)
        /// The view has scrolled to a position; `nil` for the newest message.
        case scrolled(to: ScrollPosition?)
        /// Whether the messages are visible in the active window. They are marked as read only while this holds.
        case attended(Bool)
        case edit(MessageID)
        /// Asks the composer to edit the user's newest message (SLK-46).
        case editLast
        case reply(MessageID)
        case delete(MessageID)
        /// Retries a failed message, or a rejected change to one.
        case retry(MessageID)
        /// Cancels the upload of a message's files and deletes the message; discards a rejected change.
        case discard(MessageID)
        /// Retries all failed messages.
        case retryAll
        /// Deletes all failed messages.
        case discardAll
        /// Adds a reaction, or removes the user's own.
        case react(MessageID, String)
        /// Selects or deselects a message.
        case toggleSelection(MessageID)
        case clearSelection
        /// Expands or collapses a row of events, identified by its first event.
        case toggleEvents(MessageID)
        /// Deletes the selected messages that are the user's own.
        case deleteSelected
        case dayChanged
        /// Hides all messages so far until the next jump, or until the room is opened again.
        case clear
    }

    public nonisolated enum Output: Equatable, Sendable {
        case edit(MessageID, EditableMessage)
        case reply(ReplyTarget)
        /// The display names of the members who are typing, in the order they began.
        case typing([String])
        /// The message being edited in the composer was deleted.
        case editedMessageDeleted(MessageID)
        /// The preview of the message being replied to has changed.
        case replyTargetChanged(MessageID, ReplyTarget.Preview)
        /// Encryption was enabled in the room.
        case encrypted
        /// A room event arrived: the room's topic, successor and similar state may have changed.
        case roomChanged
        case failed(ChatError)
    }

    /// What a view of the rows must do, delivered synchronously and in order.
    public nonisolated enum Effect: Equatable, Sendable {
        case changed([TimelineChange])
        /// All rows were replaced.
        case replaced
        /// Scroll to a row: a jump target, or the unread line.
        case reveal(TimelineItem.ID)
        /// Scroll just enough to make a row visible, because an action applies to it.
        case bringIntoView(TimelineItem.ID)
        case restore(ScrollPosition)
        case revealNewest
        case revealOldest
        /// A page or jump has finished; `isThere` is false if the request failed.
        case loaded(isThere: Bool)
        /// See ``TimelineViewModel/selectedRange(in:)``.
        case selectionChanged
        /// Messages from others have arrived; for screen readers.
        case arrived([MessageItem])
    }

    public let roomID: RoomID
    /// The number of messages requested per page.
    public let pageSize: Int
    /// How many messages to keep on each side of the scroll position. Trimming starts above twice this number.
    public let reach: Int
    public internal(set) var state = State()
    public internal(set) var rows = TimelineRows()
    @ObservationIgnored public var onOutput: ((Output) -> Void)?
    /// Receives all effects from now on, starting with the initial scroll position if it was determined earlier.
    @ObservationIgnored public var onEffect: ((Effect) -> Void)? {
        didSet {
            guard let unseen = unseenReveal, let onEffect else { return }
            unseenReveal = nil
            onEffect(unseen)
        }
    }
    /// The message being edited in the composer.
    @ObservationIgnored public var editing: MessageID? {
        didSet {
            guard editing != oldValue else { return }
            layOut(at: [oldValue, editing].compactMap { $0.flatMap(loaded.position(of:)) })
            if let editing, loaded.message(editing)?.isDeleted == true { onOutput?(.editedMessageDeleted(editing)) }
        }
    }
    /// The message being replied to in the composer.
    @ObservationIgnored public var replyingTo: MessageID? {
        didSet { if replyingTo != oldValue { checkReplyTarget() } }
    }
    /// Whether sending is blocked until the user signs in again.
    @ObservationIgnored public var isSignedOut = false {
        didSet { if isSignedOut != oldValue { layOutAll() } }
    }
    /// The selected text range.
    @ObservationIgnored public var selection: MessageSelection? {
        didSet {
            guard selection != oldValue else { return }
            let ends = [selection?.anchor.message, selection?.focus.message]
            selectionPositions = selectionPositions.filter { ends.contains($0.key) }
            onEffect?(.selectionChanged)
        }
    }
    /// The selected messages, and whether each is the user's own.
    @ObservationIgnored public internal(set) var selectedMessages: [MessageID: Bool] = [:]
    @ObservationIgnored var expanded: Set<MessageID> = []
    @ObservationIgnored var failedMessages: [MessageID: FailedMessage] = [:]
    /// The last known positions of the selection's endpoints, whose messages may have been dropped from memory.
    @ObservationIgnored var selectionPositions: [MessageID: Int64] = [:]

    @ObservationIgnored let service: any TimelineBackend
    /// `nil` if the backend does not support link previews.
    @ObservationIgnored public private(set) lazy var linkPreviews = LinkPreviews(room: roomID, service: service)
    @ObservationIgnored let now: () -> Date
    @ObservationIgnored var loaded = LoadedMessages()
    @ObservationIgnored var quotes = QuotedMessages()
    @ObservationIgnored let bodies: MessageBodies
    /// Updates received while a page is loading. The page may predate them, so they are applied again on top of it.
    @ObservationIgnored var updatesWhileLoading: [TimelineUpdate] = []
    @ObservationIgnored var reportedPageFailure: ChatError?
    /// A page requested while another request was in flight.
    @ObservationIgnored var requestedEdge: TimelineEdge?
    /// Incremented to invalidate requests in flight.
    @ObservationIgnored var generation = 0
    @ObservationIgnored var unreadLineAfter: MessageID?
    @ObservationIgnored var scrollPosition: ScrollPosition?
    @ObservationIgnored var isAtNewest = false
    /// Whether the messages are visible to the user. False until the view says so, because read receipts are public.
    @ObservationIgnored var isAttended = false
    @ObservationIgnored let scrollPositionWriter: ScrollPositionWriter
    @ObservationIgnored var ownUserID: MemberID?
    @ObservationIgnored var names: [MemberID: Member] = [:]
    /// The index of each member in ``State/members``.
    @ObservationIgnored var memberIndices: [MemberID: Int] = [:]
    /// The position of the read marker; `nil` if it is older than everything loaded.
    @ObservationIgnored var readPosition: Int64?
    /// The newest position that arrivals have been announced up to.
    @ObservationIgnored private var lastPublishedPosition = Int64.min
    @ObservationIgnored var unseenReveal: Effect?
    /// A jump to perform once the room has loaded.
    @ObservationIgnored var awaited: Jump?
    /// The jump in flight.
    @ObservationIgnored var jumping: Jump?
    @ObservationIgnored private var listening: Task<Void, Never>?

    public init(
        roomID: RoomID, service: any TimelineBackend, time: Timekeeper = .continuous,
        now: @escaping () -> Date = { Date() }, pageSize: Int = 60, reach: Int = 480
    ) {
        self.roomID = roomID
        self.pageSize = pageSize
        self.reach = reach
        self.service = service
        self.now = now
        bodies = MessageBodies(readsPlainTexts: service.capabilities.contains(.plainTexts))
        scrollPositionWriter = ScrollPositionWriter(time: time) {
            try? await service.saveScrollPosition($0, in: roomID)
        }
    }

    isolated deinit { listening?.cancel() }

    /// Subscribes to the room's timeline.
    public func start() {
        guard listening == nil else { return }
        let stream = service.timeline(of: roomID, limit: pageSize)
        listening = Task { [weak self, service, roomID] in
            let scrollPosition = try? await service.scrollPosition(in: roomID)
            self?.scrollPositionWriter.noteStored(scrollPosition)
            self?.scrollPosition = scrollPosition
            for await update in stream {
                guard let self else { return }
                await self.receive(update)
            }
            self?.streamEnded()
        }
    }

    /// Returns when the scroll position is stored. Call it before closing.
    public func flush() async { await scrollPositionWriter.flush() }

    public func send(_ action: Action) {
        guard !state.isClosed || action == .dayChanged else { return }
        switch action {
        case .load(let edge): loadPage(edge)
        case .jump(let destination): jump(Jump(destination: destination))
        case .scrolled(let scrollPosition): scrolled(to: scrollPosition)
        case .attended(let isAttended): attended(isAttended)
        case .edit(let id):
            guard let item = rows.message(id), item.canEdit else { return }
            startEdit(id)
        case .editLast: editLast()
        case .reply(let id):
            guard let item = rows.message(id), item.canReply, loaded.message(id) != nil else { return }
            let preview = ReplyTarget.Preview.text(PlainPreview.quote(item.body, attachments: item.attachments))
            onOutput?(
                .reply(
                    ReplyTarget(
                        messageID: id.rawValue, sender: item.senderName, senderID: item.senderID.rawValue,
                        preview: preview)))
        case .delete(let id):
            // A local echo may have been replaced by the server's event since the action was created; the service
            // resolves both IDs.
            if let item = rows.message(id), !item.canDelete { return }
            perform { [roomID] service in try await service.delete(id, in: roomID) }
        case .retry(let id): retry(id)
        case .discard(let id): discard(id)
        case .retryAll: retryAll()
        case .discardAll: discardAll()
        case .react(let id, let text): react(text, to: id)
        case .toggleSelection(let id): toggleSelection(id)
        case .clearSelection: clearSelection()
        case .toggleEvents(let id): toggleEvents(id)
        case .deleteSelected: deleteSelected()
        case .dayChanged: layOutAll()
        case .clear:
            generation += 1
            jumping = nil
            state.loading = nil
            replace(with: TimelinePage(messages: [], hasOlder: false))
        }
    }

    // MARK: Reducing

    private func receive(_ update: TimelineUpdate) async {
        trackFailed(update)
        switch update {
        case .opened(let page, let members, let fullyReadMarker):
            setMembers(members)
            await open(page, fullyReadMarker: fullyReadMarker)
        case .changed, .removed:
            if case .changed(let messages) = update { await bodies.prepare(messages) }
            if state.loading != nil { updatesWhileLoading.append(update) }
            apply(update)
            notifyComposer(of: update)
            deselectRemoved(update)
            if case .changed(let messages) = update, messages.contains(where: { $0.event != nil }) {
                onOutput?(.roomChanged)
            }
        case .members(let members):
            setMembers(members)
            layOutAll()
        case .membersChanged(let members):
            changeMembers(members)
            layOutAll()
        case .encrypted: onOutput?(.encrypted)
        case .typing(let typing): onOutput?(.typing(typing.map { names[$0]?.displayName ?? $0.rawValue }))
        case .closed:
            state.isClosed = true
            onOutput?(.typing([]))
        }
    }

    private func open(_ newest: TimelinePage, fullyReadMarker: MessageID?) async {
        generation += 1
        // Repeat a jump in flight against the reopened timeline.
        awaited = awaited ?? jumping
        jumping = nil
        updatesWhileLoading = []
        readPosition = newest.messages.first { $0.id == fullyReadMarker }?.position
        lastPublishedPosition = newest.messages.last?.position ?? .min
        unreadLineAfter = isUnreadBehind(fullyReadMarker, in: newest) ? fullyReadMarker : nil
        let page = await openingPage(newest)
        await bodies.prepare(page.messages)
        state.isLoaded = true
        state.loading = nil
        replace(with: page)
        revealOpening()
        notifyComposer(of: .changed(page.messages))
        if let jump = awaited {
            awaited = nil
            self.jump(jump)
        }
    }

    /// The page around the stored scroll position or the first unread message.
    private func openingPage(_ newest: TimelinePage) async -> TimelinePage {
        guard let target = scrollPosition?.message ?? unreadLineAfter, newest.hasOlder,
            !newest.messages.contains(where: { $0.id == target })
        else { return newest }
        let page = try? await service.messages(in: roomID, around: .message(target), limit: pageSize)
        if page == nil { scrollPosition = nil }
        return page ?? newest
    }

    private func revealOpening() {
        if let scrollPosition, loaded.message(scrollPosition.message) != nil {
            reveal(.restore(scrollPosition))
        } else if rows.index(of: .unreadLine) != nil {
            reveal(.reveal(.unreadLine))
        } else {
            reveal(.revealNewest)
        }
    }

    /// Only what was unread on opening counts, not what arrives while the room is on screen.
    private func isUnreadBehind(_ fullyReadMarker: MessageID?, in page: TimelinePage) -> Bool {
        guard let fullyReadMarker else { return false }
        guard let readPosition else { return page.hasOlder }
        return page.messages.contains {
            $0.id != fullyReadMarker && $0.position > readPosition && $0.sender != ownUserID && $0.event == nil
        }
    }

    /// The avatar URI of a member, or `nil` if there is none.
    public func avatar(of member: MemberID) -> String? { names[member]?.avatar }

    func apply(_ update: TimelineUpdate) {
        switch update {
        case .changed(let messages):
            quotes.update(messages)
            layOut(at: loaded.merge(messages) + quotes.replies(to: messages.map(\.id)), asking: messages)
            publishArrivals(messages)
            trim()
        case .removed(let ids):
            quotes.release(ids.compactMap(loaded.message))
            quotes.remove(ids)
            layOut(at: loaded.remove(ids) + quotes.replies(to: ids))
        default: break
        }
    }

    private func publishArrivals(_ messages: [Message]) {
        let new = messages.filter { $0.position > lastPublishedPosition }
        lastPublishedPosition = new.map(\.position).max() ?? lastPublishedPosition
        let layout = layout
        let others = new.filter { !layout.isOwn($0) && !$0.isDeleted && $0.event == nil }
        guard !others.isEmpty else { return }
        onEffect?(.arrived(others.map { layout.item($0, startsGroup: true, endsGroup: true, quote: nil) }))
    }

    private func streamEnded() {
        guard !state.isLoaded, !state.isClosed else { return }
        onOutput?(.failed(.storage(reason: "the messages could not be read")))
    }

    func perform(_ work: @escaping @Sendable (any TimelineBackend) async throws -> Void) {
        Task { [weak self, service] in
            do { try await work(service) } catch { self?.onOutput?(.failed(ChatError(error))) }
        }
    }
}
