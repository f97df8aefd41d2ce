import ChatCore
import Composer
import Foundation
import Observation

/// The loaded range of a room's messages, laid out as rows with quotes and marks.
///
/// Changes lay out only affected rows.
@Observable
final class LoadedTimeline {
    nonisolated enum Output: Equatable, Sendable {
        case effect(TimelineViewModel.Effect)
        /// Messages arrived or changed, and their rows are laid out.
        case changed([Message])
        /// The loaded range has changed, and its rows are laid out.
        case rangeChanged
        /// The destination of a jump is loaded; the effect scrolls to it.
        case landed(TimelineJump, TimelineViewModel.Effect?)
        /// A request has ended, successfully or not.
        case finished(isLoaded: Bool)
        case failed(ChatError)
    }

    private(set) var range = TimelineRange()
    private(set) var members = TimelineMembers()
    private(set) var rows = TimelineRows()
    @ObservationIgnored private(set) var messages = LoadedMessages()
    @ObservationIgnored private var quotes = QuotedMessages()
    /// Events whose groups are expanded.
    @ObservationIgnored private var expanded: Set<MessageID> = []
    @ObservationIgnored private var unreadLineAfter: MessageID?
    @ObservationIgnored private var editing: MessageID?
    @ObservationIgnored private var selectedMessages = SelectedMessages()
    @ObservationIgnored private var isSignedOut = false
    @ObservationIgnored private(set) var acceptsMessages = true
    @ObservationIgnored private(set) var reactions = ReactionPolicy.allowed
    /// The message at the scroll position; `nil` for the newest one.
    @ObservationIgnored private var anchor: MessageID?
    /// The position of the newest message that was published, loaded or not.
    @ObservationIgnored private var newestPosition = Int64.min
    /// The position of the newest message when the user cleared the view; `nil` if all messages may be shown.
    @ObservationIgnored private var hiddenThrough: Int64?
    /// The transactions of removed messages. The server's event that replaces a local echo has another ID.
    @ObservationIgnored private var removedTransactions: [MessageID: TransactionID] = [:]
    /// Updates received while a page is loading. The page may predate them, so they are applied again on top of it.
    @ObservationIgnored private var missedUpdates: [TimelineUpdate] = []
    let bodies: MessageBodies
    private let roomID: RoomID
    private let service: any TimelineBackend
    private let now: () -> Date
    private let pageSize: Int
    /// The number of messages to keep on each side of the scroll position. Trimming starts above twice this number.
    private let reach: Int
    private let onOutput: (Output) -> Void
    @ObservationIgnored private lazy var pager = TimelinePager(
        roomID: roomID, service: service, bodies: bodies, pageSize: pageSize
    ) { [weak self] in self?.receive($0) }

    init(
        roomID: RoomID, service: any TimelineBackend, now: @escaping () -> Date, pageSize: Int, reach: Int,
        onOutput: @escaping (Output) -> Void
    ) {
        self.roomID = roomID
        self.service = service
        self.now = now
        self.pageSize = pageSize
        self.reach = reach
        self.onOutput = onOutput
        bodies = MessageBodies(readsPlainTexts: service.capabilities.contains(.plainTexts))
    }

    private var capabilities: BackendCapabilities {
        reactions == .off ? service.capabilities.subtracting(.reactions) : service.capabilities
    }

    var layout: TimelineLayout {
        TimelineLayout(
            members: members, unreadLineAfter: unreadLineAfter, editing: editing, now: now(), bodies: bodies,
            capabilities: capabilities, selectedMessages: selectedMessages, expanded: expanded,
            isSignedOut: isSignedOut, acceptsMessages: acceptsMessages)
    }

    // MARK: Messages

    /// Replaces the range by the newest page, or by the page around a message that the newest one lacks. Postpones a
    /// jump in flight; call ``jumpToPostponed()`` afterwards.
    /// - Parameter unreadLineAfter: the message above the unread line, if there is a line.
    /// - Returns: whether the message can be shown.
    func open(_ newest: TimelinePage, around target: MessageID?, unreadLineAfter: MessageID?) async -> Bool {
        self.unreadLineAfter = unreadLineAfter
        noteNewest(newest.messages)
        pager.postponeJump()
        // A sync with a gap opens the room once more, which is no reason to show what the user has cleared.
        let (page, isFound) = await pager.openingPage(newest, around: hiddenThrough == nil ? target : nil)
        // Requests made meanwhile belong to the range being replaced.
        pager.postponeJump()
        range.isLoaded = true
        replace(with: page)
        return isFound
    }

    /// Hides all messages up to now until a jump loads another range.
    func clear() {
        pager.cancel()
        hiddenThrough = newestPosition
        replace(with: TimelinePage(messages: [], hasOlder: false))
    }

    /// Applies a change or removal of messages.
    func apply(_ update: TimelineUpdate) {
        if pager.loading != nil { missedUpdates.append(update) }
        change(by: update)
    }

    private func change(by update: TimelineUpdate) {
        switch update {
        case .changed(let changed):
            noteNewest(changed)
            let positions = messages.merge(changed)
            refreshRange()
            quotes.update(changed)
            layOut(changed, at: positions)
            onOutput(.changed(changed))
            trim()
        case .removed(let ids):
            let removed = ids.compactMap(messages.message)
            for message in removed { removedTransactions[message.id] = message.transactionID }
            let positions = messages.remove(ids)
            refreshRange()
            quotes.release(removed)
            quotes.remove(ids)
            layOut(at: positions + quotes.replies(to: ids))
            onOutput(.rangeChanged)
        default: break
        }
    }

    /// One that is not sent yet has a position of its own, above those of messages yet to arrive.
    private func noteNewest(_ messages: [Message]) {
        for message in messages where message.delivery == .sent {
            newestPosition = max(newestPosition, message.position)
        }
    }

    private func replace(with page: TimelinePage) {
        messages = LoadedMessages(page, hiddenThrough: hiddenThrough)
        refreshRange()
        quotes = QuotedMessages(epoch: quotes.epoch + 1)
        let missing = quotes.note(messages.messages, in: messages)
        rows = TimelineRows()
        _ = rows.layOutAll(messages, by: layout, quotes: quotes)
        _ = rows.setEdges(older: messages.start != nil, newer: messages.end != nil)
        onOutput(.effect(.replaced))
        loadQuotes(missing)
        onOutput(.rangeChanged)
    }

    private func add(_ page: TimelinePage, at edge: TimelineEdge) {
        let positions = edge == .older ? messages.prepend(page) : messages.append(page)
        refreshRange()
        layOut(page.messages, at: positions)
        onOutput(.rangeChanged)
    }

    /// Sets the message around which to keep others in memory; `nil` for the newest one.
    func setAnchor(_ message: MessageID?) { anchor = message }

    /// Drops messages far from the anchor, except while a page is loading, which must join the current range.
    private func trim() {
        guard pager.loading == nil, messages.messages.count > 2 * reach else { return }
        let position = anchor.flatMap(messages.position) ?? messages.messages.last?.position ?? 0
        let dropped = messages.trim(around: position, reach: reach)
        refreshRange()
        quotes.release(dropped)
        layOut(at: dropped.map(\.position))
        onOutput(.rangeChanged)
    }

    private func refreshRange() {
        var next = range
        next.loading = pager.loading
        next.hasOlder = messages.start != nil
        next.isDetached = messages.end != nil
        next.isEmpty = next.isLoaded && messages.messages.isEmpty && !next.hasOlder && !next.isDetached
        if next != range { range = next }
    }

    // MARK: Pages and jumps

    /// Loads the page at one end, once a request in flight has finished.
    func load(_ edge: TimelineEdge) {
        if range.isLoaded { pager.load(edge, of: messages) }
    }

    /// How to scroll to the position at which the user stopped reading.
    func opening(at position: ScrollPosition?) -> TimelineViewModel.Effect {
        rows.revealOpening(at: position, in: messages)
    }

    /// Jumps to a destination: at once if it is loaded, or else once the range around it is.
    func jump(_ jump: TimelineJump) {
        guard range.isLoaded else { return pager.postpone(jump) }
        if let effect = rows.reveal(jump.destination, in: messages) {
            pager.dropJump()
            onOutput(.landed(jump, effect))
        } else {
            pager.load(jump, unreadLineAfter: unreadLineAfter)
        }
    }

    /// Performs the jump that was postponed until the room has loaded.
    func jumpToPostponed() { if let jump = pager.dequeueJump() { self.jump(jump) } }

    private func receive(_ output: TimelinePager.Output) {
        switch output {
        case .began:
            missedUpdates = []
            refreshRange()
        case .ended: refreshRange()
        case .page(let page, let edge):
            add(page, at: edge)
            applyMissed()
        case .range(let page, let jump):
            hiddenThrough = nil
            replace(with: page)
            // The user's newest message may have been sent while the page was loading.
            if jump.editsLast { applyMissed() }
            onOutput(.landed(jump, rows.reveal(jump.destination, in: messages)))
            applyMissed()
        case .finished(let isLoaded): onOutput(.finished(isLoaded: isLoaded))
        case .failed(let error): onOutput(.failed(error))
        case .free(let edge): load(edge)
        }
    }

    private func applyMissed() {
        let missed = missedUpdates
        missedUpdates = []
        missed.forEach(change)
        trim()
    }

    // MARK: What rows show

    func setMembers(_ members: [Member]) {
        self.members = TimelineMembers(members)
        bodies.setMembers(members)
    }

    /// Updates members, and lays out only the rows that may show something of them: in a large room, people come and
    /// go all the time.
    func changeMembers(_ changed: [Member]) {
        let ownUserID = members.ownUserID
        let changes = members.change(changed)
        bodies.changeMembers(changes)
        guard members.ownUserID == ownUserID else { return layOutAll() }
        // Rows show nothing else of members.
        let shown = changes.filter {
            $0.before?.displayName != $0.after.displayName || $0.before?.avatar != $0.after.avatar
        }
        if !shown.isEmpty { layOut(showing: Set(shown.map { $0.after.id })) }
    }

    private func layOut(showing members: Set<MemberID>) {
        let isAffected = { [bodies] (message: Message) in
            message.shows(anyOf: members) || bodies.mayDependOnNames(message)
        }
        let affected = messages.messages.filter(isAffected)
        layOut(
            at: affected.map(\.position) + quotes.replies(to: affected.map(\.id)) + quotes.replies(toStored: isAffected)
        )
    }

    /// Marks the message that the composer edits.
    func setEditing(_ id: MessageID?) {
        let previous = editing
        editing = id
        layOut([previous, id].compactMap { $0 })
    }

    /// Marks the selected messages.
    /// - Parameter changed: those that were selected or deselected.
    func setSelected(_ messages: SelectedMessages, changed: [MessageID]) {
        selectedMessages = messages
        layOut(changed)
    }

    /// Moves the unread line.
    func setUnreadLine(after message: MessageID?) {
        unreadLineAfter = message
        layOutAll()
    }

    func setSignedOut(_ isSignedOut: Bool) {
        guard isSignedOut != self.isSignedOut else { return }
        self.isSignedOut = isSignedOut
        layOutAll()
    }

    func setAcceptsMessages(_ acceptsMessages: Bool) {
        guard acceptsMessages != self.acceptsMessages else { return }
        self.acceptsMessages = acceptsMessages
        layOutAll()
    }

    func setReactions(_ policy: ReactionPolicy) {
        let isChanged = (policy == .off) != (reactions == .off)
        reactions = policy
        if isChanged { layOutAll() }
    }

    /// Returns the ID that a message has by now: the user chooses an action for a local echo, and the server's event
    /// may replace that meanwhile.
    func currentID(of id: MessageID) -> MessageID {
        guard messages.position(of: id) == nil, let transaction = removedTransactions[id] else { return id }
        return messages.messages.last { $0.transactionID == transaction }?.id ?? id
    }

    /// Expands or collapses a row of events.
    func toggleEvents(_ id: MessageID) {
        guard let position = messages.position(of: id) else { return }
        let first = messages.startOfRow(messages.index(of: position))
        let row = messages.messages[first..<messages.endOfRow(first)].map(\.id)
        if expanded.isDisjoint(with: row) { expanded.insert(id) } else { expanded.subtract(row) }
        layOut(at: [position])
    }

    func layOutAll() { show(rows.layOutAll(messages, by: layout, quotes: quotes)) }

    /// Fetches messages in timeline order with their senders, for the clipboard.
    /// - Returns: No text if none of them has any.
    func fragment(of ids: [MessageID]) async throws -> ClipboardFragment {
        let found = try await service.messages(ids, in: roomID).sorted { $0.position < $1.position }
        await bodies.prepare(found)
        let copied = items(of: found.filter(\.hasContent))
        return ClipboardFragment(copying: copied.contains(where: \.canCopy) ? copied : [])
    }

    /// These messages as separate rows, without groups and quotes.
    func items(of messages: [Message]) -> [MessageItem] {
        let layout = layout
        return messages.map { layout.item($0, startsGroup: true, endsGroup: true, quote: nil) }
    }

    // MARK: Rows

    /// Lays out the rows of new or changed messages and of the replies to them.
    private func layOut(_ changed: [Message], at positions: [Int64]) {
        let missing = quotes.note(changed.filter { messages.position(of: $0.id) != nil }, in: messages)
        layOut(at: positions + quotes.replies(to: changed.map(\.id)))
        loadQuotes(missing)
    }

    private func layOut(_ ids: [MessageID]) { layOut(at: ids.compactMap(messages.position)) }

    private func layOut(at positions: [Int64]) {
        var changes = rows.layOut(at: positions, of: messages, by: layout, quotes: quotes)
        let edges = (older: messages.start != nil, newer: messages.end != nil)
        let displayedEdges = (rows.index(of: .more(.older)) != nil, rows.index(of: .more(.newer)) != nil)
        if displayedEdges != edges { changes += rows.setEdges(older: edges.older, newer: edges.newer) }
        show(changes)
    }

    private func show(_ changes: [TimelineChange]) {
        if !changes.isEmpty { onOutput(.effect(.changed(changes))) }
    }

    /// Fetches the replied-to messages that could not be fetched.
    func retryQuotes() { loadQuotes(quotes.retry(in: messages)) }

    private func loadQuotes(_ ids: [MessageID]) {
        guard !ids.isEmpty else { return }
        Task { [weak self, service, roomID, epoch = quotes.epoch] in
            let found = try? await service.messages(ids, in: roomID)
            guard let self, quotes.epoch == epoch else { return }
            if let found {
                quotes.store(found, askedFor: ids)
            } else if ids.count > 1 {
                // One that cannot be fetched does not hide the others.
                for id in ids { loadQuotes([id]) }
                return
            } else {
                // The reply keeps saying that it is loading until ``retryQuotes()``, or the next reply to the same
                // message.
                quotes.abandon(ids)
            }
            layOut(at: quotes.replies(to: ids))
        }
    }
}
