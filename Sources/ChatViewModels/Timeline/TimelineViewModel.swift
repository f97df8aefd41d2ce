public import ChatCore
public import Composer
public import Foundation
public import Observation

/// What of a backend a timeline needs.
public typealias TimelineBackend = TimelineService & MessageService & ScrollPositionService & AnnotationService
    & RoomCapabilityService

/// The messages of one room: a stretch of them is loaded, and laid out in ``rows``.
///
/// The stretch follows the reader: pages come at its ends, and what is far away is let go of. It reaches the newest
/// message, or is detached from it (``State/isDetached``) until it meets it again.
@Observable
public final class TimelineViewModel: ViewModel {
    /// All but the rows, which change by ``onEffect``.
    public nonisolated struct State: Equatable, Sendable {
        /// Those who left among them, see ``Member/hasLeft``.
        public var members: [Member] = []
        public var isLoaded = false
        /// Whether there is no message in the room.
        public var isEmpty = false
        public var hasOlder = false
        /// Whether there are newer messages than those that are loaded.
        public var isDetached = false
        /// What is on its way; one thing at a time.
        public var loading: Loading?
        /// The room was left or is gone.
        public var isClosed = false
        /// How many messages are marked, for something to be done with all of them.
        public var selectedCount = 0
        /// Whether all of these are the user's own.
        public var canDeleteSelected = false

        /// How many of the user's messages were given up.
        public var failedCount = 0

        /// Everyone who is in the room but the user.
        public var otherMembers: [Member] { members.filter { $0.kind != .own && !$0.hasLeft } }
    }

    public nonisolated enum Loading: Equatable, Sendable {
        case page(TimelineEdge)
        case jump(Destination)
    }

    /// Where a reader may want to be at once.
    public nonisolated enum Destination: Equatable, Sendable {
        case message(MessageID)
        /// The first message sent then or later.
        case date(Date)
        /// The unread line.
        case firstUnread
        /// The room's first message.
        case oldest
        case newest
    }

    public nonisolated enum Action: Equatable, Sendable {
        /// The view is near an end of what is loaded.
        case load(TimelineEdge)
        case jump(Destination)
        /// The view stands at a place, or with nil at the newest message.
        case scrolled(to: ScrollPosition?)
        /// Whether the user has the messages in view: on the screen, in the active window. Nothing is read before.
        case attended(Bool)
        case edit(MessageID)
        /// Asks to edit the newest own message (SLK-46).
        case editLast
        case reply(MessageID)
        case delete(MessageID)
        /// Sends a message again that was given up, or a change of one that was refused.
        case retry(MessageID)
        /// Ends the upload of a message's files, and takes the message out; or gives up a change that was refused.
        case discard(MessageID)
        /// The same with all that were given up.
        case retryAll
        /// Deletes all that were given up.
        case discardAll
        /// Gives a reaction, or takes back one that the user gave.
        case react(MessageID, String)
        /// Takes a message among those that are marked, or out.
        case toggleSelection(MessageID)
        case clearSelection
        /// Shows the events of a row, given by its first one, in full or in short again.
        case toggleEvents(MessageID)
        /// Deletes those of the marked messages that are the user's own.
        case deleteSelected
        case dayChanged
        /// Shows nothing of what was said so far, until the reader goes elsewhere or the room is opened again.
        case clear
    }

    public nonisolated enum Output: Equatable, Sendable {
        case edit(MessageID, EditableMessage)
        case reply(ReplyTarget)
        /// Who types now, in the order they began.
        case typing([String])
        /// The message that the composer is editing was deleted.
        case editedMessageDeleted(MessageID)
        /// What is known of the message that the composer answers has changed.
        case replyTargetChanged(MessageID, ReplyTarget.Preview)
        /// What is said from now on is encrypted.
        case encrypted
        /// Something happened in the room: what is known of it beside its messages may be different.
        case roomChanged
        case failed(ChatError)
    }

    /// What a view of the rows must do, told at once and in order.
    public nonisolated enum Effect: Equatable, Sendable {
        case changed([TimelineChange])
        /// All rows are others.
        case replaced
        /// The reader is to be shown a row: one that was looked for, or the top of what is unread.
        case reveal(TimelineItem.ID)
        /// A row is to be in view, wherever in it, as something is done with it.
        case bringIntoView(TimelineItem.ID)
        case restore(ScrollPosition)
        case revealNewest
        case revealOldest
        /// What was on its way has come, or could not be read.
        case loaded(isThere: Bool)
        /// See ``TimelineViewModel/selectedRange(in:)``.
        case selectionChanged
        /// Others said something; for assistive technology.
        case arrived([MessageItem])
    }

    public let roomID: RoomID
    /// Messages in a page.
    public let pageSize: Int
    /// The most messages that are kept on each side of the reader once there are twice as many.
    public let reach: Int
    public internal(set) var state = State()
    public internal(set) var rows = TimelineRows()
    @ObservationIgnored public var onOutput: ((Output) -> Void)?
    /// Told of all that happens to ``rows`` from now on, and where to begin if that is known already.
    @ObservationIgnored public var onEffect: ((Effect) -> Void)? {
        didSet {
            guard let unseen = unseenReveal, let onEffect else { return }
            unseenReveal = nil
            onEffect(unseen)
        }
    }
    /// The message that the composer is editing.
    @ObservationIgnored public var editing: MessageID? {
        didSet {
            guard editing != oldValue else { return }
            layOut(at: [oldValue, editing].compactMap { $0.flatMap(loaded.position(of:)) })
            if let editing, loaded.message(editing)?.isDeleted == true { onOutput?(.editedMessageDeleted(editing)) }
        }
    }
    /// The message that the composer answers.
    @ObservationIgnored public var replyingTo: MessageID? {
        didSet { if replyingTo != oldValue { checkReplyTarget() } }
    }
    /// Whether nothing can be sent before the user has signed in again.
    @ObservationIgnored public var isSignedOut = false {
        didSet { if isSignedOut != oldValue { layOutAll() } }
    }
    /// The text that is selected.
    @ObservationIgnored public var selection: MessageSelection? {
        didSet {
            guard selection != oldValue else { return }
            let ends = [selection?.anchor.message, selection?.focus.message]
            selectionPositions = selectionPositions.filter { ends.contains($0.key) }
            onEffect?(.selectionChanged)
        }
    }
    /// The marked messages, and whether each is the user's own.
    @ObservationIgnored public internal(set) var selectedMessages: [MessageID: Bool] = [:]
    @ObservationIgnored var expanded: Set<MessageID> = []
    @ObservationIgnored var failedMessages: [MessageID: FailedMessage] = [:]
    /// Where the selection's ends were seen last, which may have been let go of since.
    @ObservationIgnored var selectionPositions: [MessageID: Int64] = [:]

    @ObservationIgnored let service: any TimelineBackend
    /// nil where the backend has none.
    @ObservationIgnored public private(set) lazy var linkPreviews = LinkPreviews(room: roomID, service: service)
    @ObservationIgnored let now: () -> Date
    @ObservationIgnored var loaded = LoadedMessages()
    @ObservationIgnored var quotes = QuotedMessages()
    @ObservationIgnored let bodies: MessageBodies
    /// What was told while messages were on their way, which may not know of it.
    @ObservationIgnored var updatesWhileLoading: [TimelineUpdate] = []
    @ObservationIgnored var reportedPageFailure: ChatError?
    /// A page that was asked for while something else was on its way.
    @ObservationIgnored var requestedEdge: TimelineEdge?
    /// Counts what makes a load under way useless.
    @ObservationIgnored var generation = 0
    @ObservationIgnored var unreadLineAfter: MessageID?
    @ObservationIgnored var scrollPosition: ScrollPosition?
    @ObservationIgnored var isAtNewest = false
    /// Whether the user has the messages in view. Receipts tell others so: what is not known for certain is no.
    @ObservationIgnored var isAttended = false
    @ObservationIgnored let scrollPositionWriter: ScrollPositionWriter
    @ObservationIgnored var ownUserID: MemberID?
    @ObservationIgnored var names: [MemberID: Member] = [:]
    /// Where in the state each member is.
    @ObservationIgnored var memberIndices: [MemberID: Int] = [:]
    /// Where the read marker is; nil if that is before all that was loaded.
    @ObservationIgnored var readPosition: Int64?
    /// Where the newest message is that was told of.
    @ObservationIgnored private var lastPublishedPosition = Int64.min
    @ObservationIgnored var unseenReveal: Effect?
    /// Where the reader wants to be once the room is read.
    @ObservationIgnored var awaited: Jump?
    /// The one that is on its way.
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

    /// Begins to follow the room.
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

    /// Returns when the reader's place is kept. For closing.
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
            // An echo may have become the server's message since it was asked: the service knows it by both.
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
        // Where the reader is on the way to is looked for once more, in what is there now.
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

    /// The page where the reader was, or is to begin with what is unread.
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

    /// The unread line is drawn for what was unread on opening, not for what arrives under the reader's eyes.
    private func isUnreadBehind(_ fullyReadMarker: MessageID?, in page: TimelinePage) -> Bool {
        guard let fullyReadMarker else { return false }
        guard let readPosition else { return page.hasOlder }
        return page.messages.contains {
            $0.id != fullyReadMarker && $0.position > readPosition && $0.sender != ownUserID && $0.event == nil
        }
    }

    /// Where a member's picture is; nil without one.
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
