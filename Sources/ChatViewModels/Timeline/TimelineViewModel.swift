public import ChatCore
public import Composer
public import ComposerSessions
public import Foundation
public import Observation

/// The backend services that a timeline needs.
public typealias TimelineBackend = TimelineService & MessageService & ScrollPositionService & AnnotationService
    & RoomCapabilityService

/// The messages of one room: composes the loaded range with its rows, the selection and the reading position, each of
/// which has its own state.
///
/// The range follows the scroll position: pages are added at its ends, and messages far away are dropped. It includes
/// the newest message unless it is detached (``TimelineRange/isDetached``).
@Observable
public final class TimelineViewModel: ViewModel {
    public let roomID: RoomID
    /// `nil` if the backend does not support link previews.
    public let linkPreviews: LinkPreviews?

    private var failedMessages = FailedMessages()
    private var isClosed = false
    @ObservationIgnored private var progress = ReadingProgress()
    private let selection = TimelineSelection()
    @ObservationIgnored private lazy var loaded = LoadedTimeline(
        roomID: roomID, service: service, now: now, pageSize: pageSize, reach: reach
    ) { [weak self] in self?.receive($0) }
    @ObservationIgnored private lazy var composed = ComposedMessages(
        roomID: roomID, service: service, loaded: loaded, onOutput: onOutput)
    @ObservationIgnored private lazy var pageRequest = PageRequest(time: time) { [weak self] in
        self?.onEffect?(.finishedLoading($0))
    }
    @ObservationIgnored private lazy var operations = MessageOperations(roomID: roomID, service: service) {
        [weak self] in self?.receive($0)
    }
    private let scrollPositionWriter: ScrollPositionWriter
    private let dwellTimer: DeadlineTimer
    private let service: any TimelineBackend
    private let pageSize: Int
    private let reach: Int
    private let now: () -> Date
    private let time: Timekeeper
    private let onOutput: (Output) -> Void
    @ObservationIgnored private var listening: Task<Void, Never>?
    @ObservationIgnored private var onEffect: ((Effect) -> Void)?
    /// A scroll effect retained until there is a view to perform it.
    @ObservationIgnored private var pendingReveal: Effect?

    /// - Parameters:
    ///   - pageSize: the number of messages requested per page.
    ///   - reach: how many messages to keep on each side of the scroll position.
    ///   - onOutput: receives events that concern other parts of the window, as long as this object exists.
    public init(
        roomID: RoomID, service: any TimelineBackend, time: Timekeeper = .continuous,
        now: @escaping () -> Date = { Date() }, pageSize: Int = 60, reach: Int = 480,
        onOutput: @escaping (Output) -> Void = { _ in }
    ) {
        self.roomID = roomID
        self.service = service
        self.now = now
        self.time = time
        self.pageSize = pageSize
        self.reach = reach
        self.onOutput = onOutput
        linkPreviews = LinkPreviews(room: roomID, service: service, time: time)
        dwellTimer = DeadlineTimer(time)
        scrollPositionWriter = ScrollPositionWriter(time: time) {
            // Without it, the room opens at the newest message.
            try? await service.saveScrollPosition($0, in: roomID)
        }
    }

    isolated deinit { listening?.cancel() }

    /// Subscribes to the room's timeline.
    public func start() {
        guard listening == nil else { return }
        let stream = service.timeline(of: roomID, limit: pageSize)
        listening = Task { [weak self, service, roomID] in
            // Without it, the room opens at the unread line or the newest message.
            let position = try? await service.scrollPosition(in: roomID)
            self?.scrollPositionWriter.noteStored(position)
            self?.setScrollPosition(position)
            for await update in stream {
                guard let self else { return }
                await self.receive(update)
            }
            self?.streamEnded()
        }
    }

    /// Sends all effects from now on to the one view of the timeline, starting with the initial scroll position if it
    /// was determined earlier.
    public func subscribe(_ onEffect: @escaping (Effect) -> Void) {
        self.onEffect = onEffect
        guard let reveal = pendingReveal else { return }
        pendingReveal = nil
        onEffect(reveal)
    }

    /// Returns when the scroll position is stored. Call it before closing.
    public func flush() async { await scrollPositionWriter.flush() }

    // MARK: Reading the state

    /// Returns the ID that a message has by now: that of the event which may have replaced a local echo.
    public func currentID(of id: MessageID) -> MessageID { loaded.currentID(of: id) }

    public var state: State {
        State(
            range: loaded.range, selection: selection.messages, failedCount: failedMessages.count, isClosed: isClosed)
    }

    public var rows: TimelineRows { loaded.rows }
    /// The selected text; changes are reported as ``Effect/selectionChanged``.
    public var selectedText: MessageSelection? { selection.textRange }
    /// Whether ``SelectionAction/copy(focused:)`` copies a selection.
    public var hasSelection: Bool { selection.hasContent }
    /// Whether ``SelectionAction/cancel`` has an effect.
    public var canCancelSelection: Bool { selection.canCancel }

    /// The images of the loaded messages, oldest first.
    public var images: [MediaReference] {
        rows.compactMap(\.message).flatMap(\.attachments).filter { $0.presentation == .image }
    }

    /// A user who is, or has been, among the known members.
    public func member(_ id: MemberID) -> Member? { loaded.members[id] }

    /// All known members, including those who have left (``Member/hasLeft``).
    public var members: [Member] { loaded.members.all }
    /// The joined members other than the user.
    public var otherMembers: [Member] { members.filter(\.isOther) }
    /// The number of ``otherMembers``.
    public var otherCount: Int { loaded.members.otherCount }
    public var ownUserID: MemberID? { loaded.members.ownUserID }

    /// The user's newest loaded message, if it can be edited. An older one is no substitute: the user means the newest.
    public var lastEditable: MessageItem? { newestOwn.flatMap { $0.canEdit ? $0 : nil } }

    /// The user's newest loaded message with content, whether or not it was sent.
    private var newestOwn: MessageItem? {
        rows.reversed().lazy.compactMap(\.message).first { $0.isOwn && $0.message.hasContent }
    }

    /// The selected part of a message's ``MessageItem/selectableText``, in UTF-8 code units, or `nil` if none is
    /// selected.
    public func selectedRange(in item: MessageItem) -> Range<Int>? { selection.range(in: item, of: loaded.messages) }

    /// The selected text of the loaded messages with their senders, or `nil` if no text is selected.
    public var selectedFragment: ClipboardFragment? { selection.fragment(of: loaded.messages, rows) }

    // MARK: Actions

    public func send(_ action: Action) {
        guard !isClosed || action.isPossibleWhenClosed else { return }
        switch action {
        case .pages(.load(let edge)): load(edge)
        case .pages(.jump(let destination)): loaded.jump(TimelineJump(destination: destination))
        case .pages(.clear): loaded.clear()
        case .reading(.scrolled(let position)): scrolled(to: position)
        case .reading(.attended(let isAttended)):
            progress.setAttended(isAttended)
            followReading()
        case .message(let id, let action): perform(action, on: id)
        case .selection(let action): apply(selection.perform(action, in: loaded.messages, rows))
        case .failed(.retryAll): operations.retry(failedMessages.transactions)
        case .failed(.requestDiscard): if failedMessages.count > 0 { confirm(.discardOfFailed(failedMessages.ids)) }
        case .failed(.discard(let ids)): operations.delete(failedMessages.ids.filter(Set(ids).contains))
        case .composer(.editLast):
            loaded.jump(
                TimelineJump(destination: .newest, isRevealing: loaded.range.isDetached, editsLast: true))
        case .composer(.editing(let id)): composed.setEditing(id)
        case .composer(.replyingTo(let id)): composed.setReplyingTo(id)
        case .context(.dayChanged): loaded.layOutAll()
        case .context(.cameOnline): loaded.retryQuotes()
        case .context(.signedOut(let isSignedOut)): loaded.setSignedOut(isSignedOut)
        case .context(.acceptsMessages(let acceptsMessages)): loaded.setAcceptsMessages(acceptsMessages)
        case .context(.reactions(let policy)): loaded.setReactions(policy)
        case .context(.declinedReactions): onOutput(.choseReactions(false))
        }
    }

    private func perform(_ action: MessageAction, on target: MessageID) {
        let id = loaded.currentID(of: target)
        switch action {
        case .toggleEvents: return loaded.toggleEvents(id)
        // Once confirmed, it may be loaded no more. The service resolves the ID of a local echo, too.
        case .delete where rows.message(id) == nil: return operations.delete([id])
        default: break
        }
        guard let item = rows.message(id) else { return }
        switch action {
        case .retry: operations.retry(item)
        case .requestDiscard:
            let isConfirmed = item.upload != nil || item.rejectedItem != .message
            if isConfirmed { operations.discard(item) } else { confirm(deleting: item) }
        case _ where !item.offers(action): break
        case .reply: composed.reply(to: item)
        case .edit: composed.edit(id)
        case .copy:
            let selection = selectedRange(in: item) == nil ? nil : selectedFragment
            onEffect?(.copy(selection ?? ClipboardFragment(copying: item)))
        case .copyLink: operations.fetchLink(to: id)
        case .forward: onEffect?(.forward([id]))
        case .showHistory: operations.fetchHistory(of: id)
        case .react(let text) where loaded.reactions == .asks && !item.hasOwnReaction(text):
            onEffect?(.askBeforeReacting(ReactionQuestion(message: id, reaction: text)))
        case .react(let text): operations.react(text, to: item)
        case .setReaction(let text, let isGiven):
            if item.hasOwnReaction(text) != isGiven { perform(.react(text), on: id) }
        case .reactUnencrypted(let text):
            onOutput(.choseReactions(true))
            // The message may have received the reaction meanwhile, and sending it again would remove it.
            if !item.hasOwnReaction(text) { operations.react(text, to: item) }
        case .requestDeletion: if item.upload != nil { operations.discard(item) } else { confirm(deleting: item) }
        case .delete: operations.delete([id])
        case .toggleEvents: break
        }
    }

    private func confirm(deleting item: MessageItem) {
        onEffect?(.confirm(TimelineConfirmation(deleting: item, isAlone: otherCount == 0)))
    }

    private func confirm(_ subject: TimelineConfirmation.Subject) {
        onEffect?(.confirm(TimelineConfirmation(subject, isAlone: otherCount == 0)))
    }

    private func receive(_ output: MessageOperations.Output) {
        switch output {
        case .link(let address): onEffect?(.copyText(address))
        case .history(let versions): onEffect?(.showHistory(versions))
        case .failed(let error): onOutput(.failed(error))
        }
    }

    // MARK: Selection

    private func apply(_ outcomes: [TimelineSelection.Outcome]) {
        for outcome in outcomes {
            switch outcome {
            case .messagesChanged(let ids): loaded.setSelected(selection.messages, changed: ids)
            case .textChanged: onEffect?(.selectionChanged)
            case .copy(let fragment): onEffect?(.copy(fragment))
            case .copyMessages(let ids): copy(ids)
            case .forward(let ids): onEffect?(.forward(ids))
            case .confirmDeletion(let count): confirm(.deletionOfSelected(count: count))
            case .delete(let ids): operations.delete(ids)
            case .toggle(let id): send(.selection(.toggle(id)))
            case .edit(let id): send(.message(id, .edit))
            }
        }
    }

    private func copy(_ ids: [MessageID]) {
        Task {
            do {
                let fragment = try await loaded.fragment(of: ids)
                // Of pictures without captions there is nothing to copy, and what is on the clipboard stays there.
                guard !fragment.text.isEmpty else { return }
                onEffect?(.copy(fragment))
                apply(selection.deselect(ids))
            } catch {
                onOutput(.failed(ChatError(error)))
            }
        }
    }

    // MARK: Navigation

    private func load(_ edge: TimelineEdge) {
        pageRequest.begin(edge)
        if !isClosed { loaded.load(edge) }
        if loaded.range.loading == nil { pageRequest.end(isLoaded: false) }
    }

    private func land(_ jump: TimelineJump, _ effect: Effect?) {
        if jump.isRevealing, let effect { reveal(effect) }
        if jump.editsLast { editNewestOwn() }
    }

    private func editNewestOwn() {
        guard loaded.acceptsMessages else { return }
        guard let item = newestOwn else { return onOutput(.notEdited(.noMessage)) }
        switch item.delivery {
        case .sent: composed.edit(item.id)
        case .sending: onOutput(.notEdited(.pending))
        case .failed: onOutput(.notEdited(.failed))
        }
        onEffect?(.bringIntoView(.message(item.id)))
    }

    private func reveal(_ effect: Effect) {
        if let onEffect { onEffect(effect) } else { pendingReveal = effect }
    }

    private func scrolled(to position: ScrollPosition?) {
        guard progress.scroll(to: position, in: loaded.range) else { return }
        loaded.setAnchor(position?.message)
        scrollPositionWriter.put(position)
        followReading()
    }

    private func setScrollPosition(_ position: ScrollPosition?) {
        progress.restore(position)
        loaded.setAnchor(position?.message)
    }

    /// Marks visible messages as read once they were visible long enough.
    private func followReading() {
        let due = isClosed ? nil : progress.look(at: loaded.messages, loaded.range, at: time.now())
        dwellTimer.schedule(due) { [weak self] in self?.markRead(at: $0) }
    }

    private func markRead(at now: Duration) {
        let wasSeen = progress.isSeen
        let id = progress.moveReadMarker(in: loaded.messages, loaded.range, at: now)
        if let id { operations.markRead(id) }
        if progress.isSeen, !wasSeen { onOutput(.seen) }
        // Newer messages may have come into view meanwhile.
        followReading()
    }

    // MARK: Updates

    private func receive(_ update: TimelineUpdate) async {
        switch update {
        case .opened(let page, let members, let fullyReadMarker):
            note(update)
            let isReopened = loaded.range.isLoaded
            loaded.setMembers(members)
            await open(page, fullyReadMarker: fullyReadMarker)
            // What a sync left out may be room events.
            if isReopened { onOutput(.roomChanged) }
        case .changed(let messages):
            await loaded.bodies.prepare(messages)
            apply(update)
            if messages.contains(where: { $0.event != nil }) { onOutput(.roomChanged) }
        case .removed: apply(update)
        case .members(let members):
            loaded.setMembers(members)
            loaded.layOutAll()
        case .membersChanged(let changed): loaded.changeMembers(changed)
        case .encrypted: onOutput(.encrypted)
        case .typing(let typing): onOutput(.typing(typing.map(loaded.members.name)))
        case .closed:
            isClosed = true
            followReading()
            onOutput(.typing([]))
        }
    }

    private func open(_ newest: TimelinePage, fullyReadMarker: MessageID?) async {
        progress.open(newest, fullyReadMarker: fullyReadMarker, ownUserID: loaded.members.ownUserID)
        let unreadLineAfter = progress.unreadLineAfter
        let target = progress.scrollPosition?.message ?? unreadLineAfter
        let isFound = await loaded.open(newest, around: target, unreadLineAfter: unreadLineAfter)
        if !isFound { setScrollPosition(nil) }
        reveal(loaded.opening(at: progress.scrollPosition))
        composed.apply(.changed(loaded.messages.messages))
        loaded.jumpToPostponed()
    }

    /// Applies a change or removal of messages.
    func apply(_ update: TimelineUpdate) {
        note(update)
        loaded.apply(update)
        composed.apply(update)
        apply(selection.removeDeleted(by: update))
    }

    private func note(_ update: TimelineUpdate) {
        let deleted = DeletedMessages(update, loaded.messages, failedMessages)
        if !deleted.isEmpty { onEffect?(.filesDeleted(deleted)) }
        var failed = failedMessages
        failed.apply(update)
        if failed != failedMessages { failedMessages = failed }
    }

    private func streamEnded() {
        guard !loaded.range.isLoaded, !isClosed else { return }
        onOutput(.failed(.storage(reason: "the messages could not be read")))
    }

    // MARK: The loaded range

    private func receive(_ output: LoadedTimeline.Output) {
        switch output {
        case .effect(let effect): onEffect?(effect)
        case .landed(let jump, let effect): land(jump, effect)
        case .changed(let messages):
            announceArrivals(among: messages)
            followReading()
            selection.notePositions(in: loaded.messages)
        case .rangeChanged: selection.notePositions(in: loaded.messages)
        case .finished(let isLoaded):
            pageRequest.end(isLoaded: isLoaded)
            // After a jump that did not land, the view has not moved, and reports no position.
            if !isLoaded { followReading() }
        case .failed(let error): onOutput(.failed(error))
        }
    }

    private func announceArrivals(among messages: [Message]) {
        let layout = loaded.layout
        let others = progress.arrivals(among: messages).filter {
            !layout.isOwn($0) && !$0.isDeleted && $0.event == nil
        }
        guard !others.isEmpty else { return }
        if progress.moveUnreadLine() { loaded.setUnreadLine(after: progress.unreadLineAfter) }
        // Otherwise, unseen messages would scroll out of view.
        if progress.arrivesUnseen, rows.index(of: .unreadLine) != nil { onEffect?(.keepUnreadLineInView) }
        onEffect?(.arrived(loaded.items(of: others)))
    }
}
