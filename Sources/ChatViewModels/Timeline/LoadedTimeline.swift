import ChatCore
import Composer
import Foundation
import Observation

/// The loaded range of a room's messages, laid out as rows: the pager, the members, and the marks that rows show.
@Observable
final class LoadedTimeline {
    nonisolated enum Output: Equatable, Sendable {
        case effect(TimelineViewModel.Effect)
        /// The range has changed, and its rows are laid out.
        case range(TimelinePager.Output)
        /// The destination of a jump is loaded; the effect scrolls to it.
        case landed(TimelineJump, TimelineViewModel.Effect?)
    }

    private(set) var members = TimelineMembers()
    private var content = TimelineContent()
    @ObservationIgnored private var unreadLineAfter: MessageID?
    @ObservationIgnored private var editing: MessageID?
    @ObservationIgnored private var selectedMessages = SelectedMessages()
    @ObservationIgnored private var isSignedOut = false
    let bodies: MessageBodies
    private let roomID: RoomID
    private let service: any TimelineBackend
    private let now: () -> Date
    private let pageSize: Int
    private let reach: Int
    private let onOutput: (Output) -> Void
    @ObservationIgnored private lazy var pager = TimelinePager(
        roomID: roomID, service: service, bodies: bodies, pageSize: pageSize, reach: reach
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

    var rows: TimelineRows { content.rows }
    var messages: LoadedMessages { pager.loaded }
    var range: TimelineRange { pager.range }

    var layout: TimelineLayout {
        TimelineLayout(
            members: members, unreadLineAfter: unreadLineAfter, editing: editing, now: now(), bodies: bodies,
            capabilities: service.capabilities, selectedMessages: selectedMessages, isSignedOut: isSignedOut)
    }

    // MARK: The range

    /// Starts over with the newest page, or with the page around a message that the newest one lacks. Call
    /// ``jumpToPostponed()`` afterwards.
    /// - Parameter unreadLineAfter: the message that the unread line follows, if there is a line.
    /// - Returns: whether the message can be shown.
    func open(_ newest: TimelinePage, around target: MessageID?, unreadLineAfter: MessageID?) async -> Bool {
        self.unreadLineAfter = unreadLineAfter
        return await pager.open(newest, around: target)
    }

    /// How to scroll to where the user stopped reading.
    func opening(at position: ScrollPosition?) -> TimelineViewModel.Effect {
        content.revealOpening(at: position, in: messages)
    }

    func apply(_ update: TimelineUpdate) { pager.apply(update) }

    func load(_ edge: TimelineEdge) { pager.load(edge) }

    func clear() { pager.clear() }

    /// Sets the message around which to keep others in memory; `nil` for the newest one.
    func setAnchor(_ message: MessageID?) { pager.setAnchor(message) }

    /// Jumps to a destination: at once if it is loaded, or else once the range around it is.
    func jump(_ jump: TimelineJump) {
        guard range.isLoaded else { return pager.postpone(jump) }
        pager.forgetJump()
        if let effect = content.reveal(jump.destination, in: messages) {
            onOutput(.landed(jump, effect))
        } else {
            pager.load(jump, unreadLineAfter: unreadLineAfter)
        }
    }

    /// Performs the jump that was postponed until the room has loaded.
    func jumpToPostponed() { if let jump = pager.dequeueJump() { self.jump(jump) } }

    /// Fetches messages in timeline order with their senders, for the clipboard.
    func fragment(of ids: [MessageID]) async throws -> ClipboardFragment {
        let found = try await service.messages(ids, in: roomID).sorted { $0.position < $1.position }
        await bodies.prepare(found)
        return ClipboardFragment(copying: items(of: found.filter { !$0.isDeleted }))
    }

    /// These messages as separate rows, without groups and quotes.
    func items(of messages: [Message]) -> [MessageItem] {
        let layout = layout
        return messages.map { layout.item($0, startsGroup: true, endsGroup: true, quote: nil) }
    }

    // MARK: What rows show

    func setMembers(_ members: [Member]) {
        self.members = TimelineMembers(members)
        bodies.setMembers(members)
    }

    func changeMembers(_ changed: [Member]) { bodies.changeMembers(members.change(changed)) }

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

    func toggleEvents(_ id: MessageID) { show(content.toggleEvents(id, of: messages, by: layout)) }

    func layOutAll() { show(content.layOutAll(of: messages, by: layout)) }

    private func layOut(_ ids: [MessageID]) { show(content.layOut(ids, of: messages, by: layout)) }

    private func receive(_ output: TimelinePager.Output) {
        switch output {
        case .replaced:
            let missingQuotes = content.replace(with: messages, by: layout)
            onOutput(.effect(.replaced))
            loadQuotes(missingQuotes)
        case .added(let added, let positions): show(content.add(added, at: positions, of: messages, by: layout))
        case .changed(let changed, let positions):
            show(content.change(changed, at: positions, of: messages, by: layout))
        case .removed(let ids, let removed, let positions):
            show(content.remove(ids, removed, at: positions, of: messages, by: layout))
        case .dropped(let dropped): show(content.drop(dropped, of: messages, by: layout))
        case .jumped(let jump): onOutput(.landed(jump, content.reveal(jump.destination, in: messages)))
        case .finished, .failed: break
        }
        onOutput(.range(output))
    }

    private func show(_ update: TimelineContent.Update) {
        if !update.changes.isEmpty { onOutput(.effect(.changed(update.changes))) }
        loadQuotes(update.missingQuotes)
    }

    private func loadQuotes(_ ids: [MessageID]) {
        guard !ids.isEmpty else { return }
        Task { [weak self, service, roomID, epoch = content.epoch] in
            // If this fails, replies keep saying that they are loading, and the next reply to the same message
            // requests it again.
            let found = try? await service.messages(ids, in: roomID)
            guard let self, content.epoch == epoch else { return }
            show(content.store(found, requested: ids, of: messages, by: layout))
        }
    }
}
