public import ChatCore
public import Composer
public import ComposerSessions
public import Foundation
public import Observation

/// The backend services that a timeline needs.
public typealias TimelineBackend = TimelineService & MessageService & ScrollPositionService & AnnotationService
    & RoomCapabilityService

/// The messages of one room: composes the range in memory, its rows, the selection and the reading position, each of
/// which has its own state.
///
/// The range follows the scroll position: pages are added at its ends, and messages far away are dropped. It includes
/// the newest message unless it is detached (``TimelineRange/isDetached``).
@Observable
public final class TimelineViewModel: ViewModel {
    /// Everything but the rows, whose changes are reported as effects.
    public nonisolated struct State: Equatable, Sendable {
        /// All known members, including those who have left (``Member/hasLeft``).
        public internal(set) var members: [Member] = []
        public internal(set) var range = TimelineRange()
        /// The messages selected for copying, forwarding or deletion.
        public internal(set) var selection = SelectedMessages()
        /// The number of the user's messages that failed to send.
        public internal(set) var failedCount = 0
        /// Whether the room was left or no longer exists.
        public internal(set) var isClosed = false

        /// The joined members other than the user.
        public var otherMembers: [Member] { members.filter { $0.kind != .own && !$0.hasLeft } }
        public var isLoaded: Bool { range.isLoaded }
        /// Whether the room has no messages.
        public var isEmpty: Bool { range.isEmpty }
        public var hasOlder: Bool { range.hasOlder }
        /// See ``TimelineRange/isDetached``.
        public var isDetached: Bool { range.isDetached }
        public var loading: TimelineRange.Loading? { range.loading }
    }

    public let roomID: RoomID
    /// `nil` if the backend does not support link previews.
    public let linkPreviews: LinkPreviews?
    @ObservationIgnored public var onOutput: ((Output) -> Void)?

    private var members = TimelineMembers()
    private var content = TimelineContent()
    private var selectedMessages = SelectedMessages()
    private var failedMessages = FailedMessages()
    private var isClosed = false
    @ObservationIgnored private var textSelection = TextSelection()
    @ObservationIgnored private var progress = ReadingProgress()
    @ObservationIgnored private var composed = ComposedMessages()
    @ObservationIgnored private var isSignedOut = false
    private let pager: TimelinePager
    private let operations: MessageOperations
    private let bodies: MessageBodies
    private let scrollPositionWriter: ScrollPositionWriter
    private let service: any TimelineBackend
    private let pageSize: Int
    private let now: () -> Date
    @ObservationIgnored private var listening: Task<Void, Never>?
    @ObservationIgnored private var onEffect: ((Effect) -> Void)?
    /// The scroll position that no view was there to restore.
    @ObservationIgnored private var pendingReveal: Effect?

    /// - Parameters:
    ///   - pageSize: the number of messages requested per page.
    ///   - reach: how many messages to keep on each side of the scroll position.
    public init(
        roomID: RoomID, service: any TimelineBackend, time: Timekeeper = .continuous,
        now: @escaping () -> Date = { Date() }, pageSize: Int = 60, reach: Int = 480
    ) {
        self.roomID = roomID
        self.service = service
        self.now = now
        self.pageSize = pageSize
        bodies = MessageBodies(readsPlainTexts: service.capabilities.contains(.plainTexts))
        pager = TimelinePager(roomID: roomID, service: service, bodies: bodies, pageSize: pageSize, reach: reach)
        operations = MessageOperations(roomID: roomID, service: service)
        linkPreviews = LinkPreviews(room: roomID, service: service)
        scrollPositionWriter = ScrollPositionWriter(time: time) {
            // Without it the room opens at the newest message.
            try? await service.saveScrollPosition($0, in: roomID)
        }
        pager.onOutput = { [weak self] in self?.receive($0) }
        operations.onOutput = { [weak self] in self?.receive($0) }
    }

    isolated deinit { listening?.cancel() }

    /// Subscribes to the room's timeline.
    public func start() {
        guard listening == nil else { return }
        let stream = service.timeline(of: roomID, limit: pageSize)
        listening = Task { [weak self, service, roomID] in
            // Without it the room opens at the unread line or the newest message.
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

    public var state: State {
        State(
            members: members.all, range: pager.range, selection: selectedMessages, failedCount: failedMessages.count,
            isClosed: isClosed)
    }

    public var rows: TimelineRows { content.rows }
    /// The selected text; changes are reported as ``Effect/selectionChanged``.
    public var selectedText: MessageSelection? { textSelection.range }
    /// Whether ``SelectionAction/copy(focused:)`` copies a selection.
    public var hasSelection: Bool { !selectedMessages.isEmpty || !textSelection.isEmpty }
    /// Whether ``SelectionAction/cancel`` has an effect.
    public var canCancelSelection: Bool { !selectedMessages.isEmpty || textSelection.range != nil }

    /// The images of the loaded messages, oldest first.
    public var images: [MediaReference] {
        rows.compactMap(\.message).flatMap(\.attachments).filter { $0.presentation == .image }
    }

    /// The avatar URI of a member, or `nil` if there is none.
    public func avatar(of member: MemberID) -> String? { members[member]?.avatar }

    /// The user's newest loaded message that can be edited.
    public var lastEditable: MessageItem? {
        rows.reversed().lazy.compactMap(\.message).first { $0.canEdit }
    }

    /// The selected part of a message's ``MessageItem/selectableText``, in UTF-8 code units, or `nil` if none is
    /// selected.
    public func selectedRange(in item: MessageItem) -> Range<Int>? { textSelection.range(in: item, of: pager.loaded) }

    /// The selected text of the loaded messages with their senders, or `nil` if no text is selected.
    public var selectedFragment: ClipboardFragment? { textSelection.fragment(of: pager.loaded, rows) }

    // MARK: Actions

    public func send(_ action: Action) {
        guard !isClosed || action.isPossibleWhenClosed else { return }
        switch action {
        case .pages(.load(let edge)): pager.load(edge)
        case .pages(.jump(let destination)): jump(TimelineJump(destination: destination))
        case .pages(.clear): pager.clear()
        case .reading(.scrolled(let position)): scrolled(to: position)
        case .reading(.attended(let isAttended)):
            progress.setAttended(isAttended)
            markRead()
        case .message(let id, let action): perform(action, on: id)
        case .selection(let action): perform(action)
        case .failed(.retryAll): operations.retry(failedMessages.transactions)
        case .failed(.requestDiscard):
            if failedMessages.count > 0 { confirm(.discardOfFailed(count: failedMessages.count)) }
        case .failed(.discardAll): operations.delete(failedMessages.ids)
        case .composer(.editLast): editLast()
        case .composer(.editing(let id)): setEditing(id)
        case .composer(.replyingTo(let id)): setReplyingTo(id)
        case .context(.dayChanged): layOutAll()
        case .context(.signedOut(let isSignedOut)):
            guard isSignedOut != self.isSignedOut else { return }
            self.isSignedOut = isSignedOut
            layOutAll()
        }
    }

    private func perform(_ action: MessageAction, on id: MessageID) {
        switch action {
        case .toggleEvents: return show(content.toggleEvents(id, of: pager.loaded, by: layout))
        // A local echo may have been replaced by the server's event since the action was created; the service resolves
        // both IDs.
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
        case .reply: reply(to: item)
        case .edit: edit(id)
        case .copy:
            let selection = selectedRange(in: item) == nil ? nil : selectedFragment
            onEffect?(.copy(selection ?? ClipboardFragment(copying: item)))
        case .copyLink: operations.fetchLink(to: id)
        case .forward: onEffect?(.forward([id]))
        case .showHistory: operations.fetchHistory(of: id)
        case .react(let text): operations.react(text, to: item)
        case .requestDeletion: if item.upload != nil { operations.discard(item) } else { confirm(deleting: item) }
        case .delete: operations.delete([id])
        case .toggleEvents: break
        }
    }

    private func confirm(deleting item: MessageItem) {
        onEffect?(.confirm(TimelineConfirmation(deleting: item, isAlone: state.otherMembers.isEmpty)))
    }

    private func confirm(_ subject: TimelineConfirmation.Subject) {
        onEffect?(.confirm(TimelineConfirmation(subject, isAlone: state.otherMembers.isEmpty)))
    }

    private func receive(_ output: MessageOperations.Output) {
        switch output {
        case .link(let address): onEffect?(.copyText(address))
        case .history(let versions): onEffect?(.showHistory(versions))
        case .failed(let error): onOutput?(.failed(error))
        }
    }

    // MARK: Selection

    private func perform(_ action: SelectionAction) {
        switch action {
        case .toggle(let id):
            if selectedMessages.toggle(id, rows.message(id)) { layOut([id]) }
        case .clear: layOut(selectedMessages.clear())
        case .cancel: if selectedMessages.isEmpty { select(nil) } else { layOut(selectedMessages.clear()) }
        case .copy(let focused): copySelection(orElse: focused)
        case .forward:
            onEffect?(.forward(selectedMessages.ids))
            layOut(selectedMessages.clear())
        case .requestDeletion:
            if selectedMessages.canDelete { confirm(.deletionOfSelected(count: selectedMessages.count)) }
        case .delete:
            let ids = selectedMessages.ownIDs
            guard !ids.isEmpty else { return }
            layOut(selectedMessages.clear())
            operations.delete(ids)
        case .select(let selection): select(selection)
        case .selectAll: if let all = MessageSelection.all(of: pager.loaded, rows) { select(all) }
        case .extend(let step, let forward, let id):
            let next = textSelection.extended(by: step, forward: forward, from: id, in: pager.loaded, rows)
            if let next { select(next) }
        case .press(let press): self.press(press)
        }
    }

    private func press(_ press: TextPress) {
        guard let item = rows.message(press.point.message) else { return }
        switch press.meaning(on: item, selection: selectedText, isSelecting: !selectedMessages.isEmpty) {
        case .toggle: send(.selection(.toggle(item.id)))
        case .select(let selection): select(selection)
        case .edit:
            select(nil)
            send(.message(item.id, .edit))
        case nil: break
        }
    }

    private func select(_ selection: MessageSelection?) {
        if textSelection.select(selection, in: pager.loaded) { onEffect?(.selectionChanged) }
    }

    private func copySelection(orElse focused: MessageID?) {
        if !selectedMessages.isEmpty {
            copySelectedMessages()
        } else if let selection = selectedFragment {
            onEffect?(.copy(selection))
        } else if let item = focused.flatMap(rows.message), item.canCopy {
            onEffect?(.copy(ClipboardFragment(copying: item)))
        }
    }

    private func copySelectedMessages() {
        Task {
            do {
                onEffect?(.copy(try await fragment(of: selectedMessages.ids)))
                send(.selection(.clear))
            } catch {
                onOutput?(.failed(ChatError(error)))
            }
        }
    }

    /// Messages in timeline order with their senders, for the clipboard.
    private func fragment(of ids: [MessageID]) async throws -> ClipboardFragment {
        let found = try await service.messages(ids, in: roomID).sorted { $0.position < $1.position }
        await bodies.prepare(found)
        let layout = layout
        return ClipboardFragment(
            copying: found.filter { !$0.isDeleted }.map {
                layout.item($0, startsGroup: true, endsGroup: true, quote: nil)
            })
    }

    // MARK: Navigation

    private func jump(_ jump: TimelineJump) {
        guard pager.range.isLoaded else { return pager.postpone(jump) }
        pager.forgetJump()
        if let effect = content.reveal(jump.destination, in: pager.loaded) {
            land(jump, effect)
        } else {
            pager.load(jump, unreadLineAfter: progress.unreadLineAfter)
        }
    }

    private func land(_ jump: TimelineJump, _ effect: Effect?) {
        if jump.isRevealing, let effect { reveal(effect) }
        guard jump.editsLast, let item = lastEditable else { return }
        edit(item.id)
        onEffect?(.bringIntoView(.message(item.id)))
    }

    private func reveal(_ effect: Effect) {
        if let onEffect { onEffect(effect) } else { pendingReveal = effect }
    }

    private func scrolled(to position: ScrollPosition?) {
        guard progress.scroll(to: position, in: pager.range) else { return }
        pager.setAnchor(position?.message)
        scrollPositionWriter.put(position)
        markRead()
    }

    private func setScrollPosition(_ position: ScrollPosition?) {
        progress.restore(position)
        pager.setAnchor(position?.message)
    }

    private func markRead() {
        if let id = progress.moveReadMarker(in: pager.loaded, pager.range) { operations.markRead(id) }
    }

    // MARK: The composer

    private func reply(to item: MessageItem) {
        guard pager.loaded.message(item.id) != nil else { return }
        let preview = ReplyTarget.Preview.text(PlainPreview.quote(item.body, attachments: item.attachments))
        onOutput?(
            .reply(
                ReplyTarget(
                    messageID: item.id.rawValue, sender: item.senderName, senderID: item.senderID.rawValue,
                    preview: preview)))
    }

    private func edit(_ id: MessageID) {
        guard let message = pager.loaded.message(id) else { return }
        let editable = EditableMessage(
            message, body: bodies.body(of: message), readsPlainTexts: bodies.readsPlainTexts)
        onOutput?(.edit(id, editable))
    }

    private func editLast() {
        jump(TimelineJump(destination: .newest, isRevealing: pager.range.isDetached, editsLast: true))
    }

    private func setEditing(_ id: MessageID?) {
        let previous = composed.editing
        guard id != previous else { return }
        composed.editing = id
        layOut([previous, id].compactMap { $0 })
        if let id, pager.loaded.message(id)?.isDeleted == true { onOutput?(.editedMessageDeleted(id)) }
    }

    /// The message that a draft replies to may have been deleted since the draft was stored.
    private func setReplyingTo(_ id: MessageID?) {
        guard id != composed.replyingTo else { return }
        composed.replyingTo = id
        guard let id else { return }
        if let message = pager.loaded.message(id) {
            if message.isDeleted { onOutput?(.replyTargetChanged(id, .gone)) }
            return
        }
        Task { [weak self, service, roomID] in
            // The composer keeps its preview if the request fails.
            guard let found = try? await service.messages([id], in: roomID) else { return }
            guard let self, composed.replyingTo == id, pager.loaded.message(id) == nil else { return }
            onOutput?(.replyTargetChanged(id, composed.preview(of: found.first { $0.id == id }, by: layout)))
        }
    }

    // MARK: Updates

    private func receive(_ update: TimelineUpdate) async {
        trackFailed(update)
        switch update {
        case .opened(let page, let members, let fullyReadMarker):
            setMembers(members)
            await open(page, fullyReadMarker: fullyReadMarker)
        case .changed(let messages):
            await bodies.prepare(messages)
            apply(update)
            if messages.contains(where: { $0.event != nil }) { onOutput?(.roomChanged) }
        case .removed: apply(update)
        case .members(let members):
            setMembers(members)
            layOutAll()
        case .membersChanged(let changed):
            bodies.changeMembers(members.change(changed))
            layOutAll()
        case .encrypted: onOutput?(.encrypted)
        case .typing(let typing): onOutput?(.typing(typing.map(members.name)))
        case .closed:
            isClosed = true
            onOutput?(.typing([]))
        }
    }

    private func open(_ newest: TimelinePage, fullyReadMarker: MessageID?) async {
        progress.open(newest, fullyReadMarker: fullyReadMarker, ownUserID: members.ownUserID)
        let target = progress.scrollPosition?.message ?? progress.unreadLineAfter
        let isFound = await pager.open(newest, around: target)
        if !isFound { setScrollPosition(nil) }
        reveal(content.revealOpening(at: progress.scrollPosition, in: pager.loaded))
        notifyComposer(of: .changed(pager.loaded.messages))
        if let jump = pager.dequeueJump() { self.jump(jump) }
    }

    /// Applies a change or removal of messages.
    func apply(_ update: TimelineUpdate) {
        pager.apply(update)
        notifyComposer(of: update)
        guard !selectedMessages.isEmpty else { return }
        let deselected = selectedMessages.removeDeleted(by: update)
        if !deselected.isEmpty { layOut(deselected) }
    }

    private func notifyComposer(of update: TimelineUpdate) {
        for output in composed.outputs(of: update, by: layout) { onOutput?(output) }
    }

    private func setMembers(_ members: [Member]) {
        self.members = TimelineMembers(members)
        bodies.setMembers(members)
    }

    private func trackFailed(_ update: TimelineUpdate) {
        var next = failedMessages
        next.apply(update)
        if next != failedMessages { failedMessages = next }
    }

    private func streamEnded() {
        guard !pager.range.isLoaded, !isClosed else { return }
        onOutput?(.failed(.storage(reason: "the messages could not be read")))
    }

    // MARK: Rows

    private var layout: TimelineLayout {
        TimelineLayout(
            members: members, unreadLineAfter: progress.unreadLineAfter, editing: composed.editing, now: now(),
            bodies: bodies, capabilities: service.capabilities, selectedMessages: selectedMessages,
            isSignedOut: isSignedOut)
    }

    private func receive(_ output: TimelinePager.Output) {
        let loaded = pager.loaded
        switch output {
        case .replaced:
            let missingQuotes = content.replace(with: loaded, by: layout)
            onEffect?(.replaced)
            loadQuotes(missingQuotes)
        case .added(let messages, let positions):
            show(content.add(messages, at: positions, of: loaded, by: layout))
        case .changed(let messages, let positions):
            show(content.change(messages, at: positions, of: loaded, by: layout))
            announceArrivals(among: messages)
        case .removed(let ids, let messages, let positions):
            show(content.remove(ids, messages, at: positions, of: loaded, by: layout))
        case .dropped(let messages): show(content.drop(messages, of: loaded, by: layout))
        case .jumped(let jump): land(jump, content.reveal(jump.destination, in: loaded))
        case .finished(let isLoaded): onEffect?(.loaded(isThere: isLoaded))
        case .failed(let error): onOutput?(.failed(error))
        }
        textSelection.notePositions(in: loaded)
    }

    private func layOut(_ ids: [MessageID]) { show(content.layOut(ids, of: pager.loaded, by: layout)) }

    private func layOutAll() { show(content.layOutAll(of: pager.loaded, by: layout)) }

    private func show(_ update: TimelineContent.Update) {
        if !update.changes.isEmpty { onEffect?(.changed(update.changes)) }
        loadQuotes(update.missingQuotes)
    }

    private func loadQuotes(_ ids: [MessageID]) {
        guard !ids.isEmpty else { return }
        Task { [weak self, service, roomID, epoch = content.epoch] in
            // Replies say that they are loading if this fails, and the next one to the same message requests it again.
            let found = try? await service.messages(ids, in: roomID)
            guard let self, content.epoch == epoch else { return }
            show(content.store(found, requested: ids, of: pager.loaded, by: layout))
        }
    }

    private func announceArrivals(among messages: [Message]) {
        let layout = layout
        let others = progress.arrivals(among: messages).filter {
            !layout.isOwn($0) && !$0.isDeleted && $0.event == nil
        }
        guard !others.isEmpty else { return }
        onEffect?(.arrived(others.map { layout.item($0, startsGroup: true, endsGroup: true, quote: nil) }))
    }
}
