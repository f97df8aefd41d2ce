import ChatCore
import ChatViewModels
import Composer
import ComposerGtk
import Foundation
import GtkKit
import MediaGtk
import TimelineGtk

/// The timeline of a room in a scrolled window: binds the list's rows and controls its scroll position.
final class TimelineView {
    /// The maximum row width in pixels, equal to the composer's inside its margins.
    private static let maxRowWidth = 796
    /// How long a row stays highlighted after a jump.
    private static let foundDuration = Duration.milliseconds(1600)

    let widget: Widget
    /// Called with whether the newest message is in view.
    var onAtEnd: ((Bool) -> Void)?
    /// Called to move the focus to the composer.
    var onLeave: (() -> Void)?
    /// Called with the key controller when the user starts to type, to forward the key to the composer.
    var onType: ((KeyPress) -> Void)?
    /// Called when messages from others arrive.
    var onArrived: (([MessageItem]) -> Void)?

    private(set) var viewModel: TimelineViewModel
    let list: TimelineList
    let menu: MessageMenu
    // Created on demand: most visits to a room need none of these.
    private(set) lazy var reactions = makeReactions()
    private lazy var calendar = makeCalendar()
    private lazy var mentions = MentionPopover(parent: menuParent, over: widget, rows: list)
    /// Returns the card of a mention, or `nil` for none.
    var mentionCard: (Mention) -> UserCard.Content? = { _ in nil }
    private let menuParent: Widget
    /// Called to choose the room to forward messages to.
    var onForward: (([MessageID]) -> Void)?
    private let links = LinkOpener()
    private let scroller: ScrolledWindow
    private let media: MediaPresenter
    /// Returns `nil` while link previews are disabled or unavailable.
    var linkPreviews: () -> LinkPreviews? = { nil }
    /// Returns what can make an encrypted message readable, or `nil`.
    var sealHelp: (SealReason) -> SealHelp? = { _ in nil }
    /// Called to perform it.
    var onHelp: ((SealHelp) -> Void)?
    private let activityMonitor: WindowActivityMonitor
    private(set) var pointer: TimelinePointer?
    private var highlighted = (terms: SearchTerms(terms: []), current: MessageID?.none)
    private var found: (id: TimelineItem.ID, end: Timeout)?
    private let revealed = RevealedMessages()
    /// The message that had the focus when it was removed, until the next key.
    var removedFocus: MessageID?
    /// Whether the rows were replaced since the last layout; scrolling is not animated then.
    private var isRebuilt = true

    init(viewModel: TimelineViewModel, media: MediaPresenter, scroller: ScrolledWindow, menuParent: Widget) {
        self.viewModel = viewModel
        self.media = media
        self.scroller = scroller
        (widget, list) = TimelineList.create()
        menu = MessageMenu(parent: menuParent, rows: list)
        self.menuParent = menuParent
        activityMonitor = WindowActivityMonitor(on: scroller)
        list.maxRowWidth = Self.maxRowWidth
        widget.setAccessibleLabel(translated("Messages"))
        // Code blocks and tables inside messages scroll horizontally.
        scroller.handleScrolling(only: .upright)
        scroller.setChild(widget)
        list.source = self
        connectList()
        connectMenu()
        pointer = TimelinePointer(on: widget, list: list, menu: menu, viewModel: viewModel)
        addKeys()
        media.images = { [weak self] in self?.viewModel.images ?? [] }
        updatePaging()
        subscribe()
    }

    // A window that shows another account drops the view while its widgets are still mapped: nothing reports then that
    // nobody sees the messages any more, and they would be marked as read.
    isolated deinit {
        if activityMonitor.isActive { viewModel.send(.reading(.attended(false))) }
    }

    /// Shows another timeline in the same widgets.
    func show(_ viewModel: TimelineViewModel) {
        let isAttended = activityMonitor.isActive
        if isAttended { self.viewModel.send(.reading(.attended(false))) }
        self.viewModel = viewModel
        pointer?.show(viewModel)
        highlighted = (SearchTerms(terms: []), nil)
        (found, removedFocus) = (nil, nil)
        revealed.forget()
        media.endAudio()
        isRebuilt = true
        list.replaceRows()
        updatePaging()
        if isAttended { viewModel.send(.reading(.attended(true))) }
        subscribe()
    }

    private func subscribe() {
        viewModel.subscribe { [weak self, weak viewModel] effect in
            // What another room still reports is not for this one.
            if let self, self.viewModel === viewModel { perform(effect) }
        }
    }

    private func connectList() {
        list.onVisibleChange = { [weak self] in self?.positionChanged() }
        list.onAtEndChange = { [weak self] _ in self?.positionChanged() }
        list.onNeedsMore = { [weak self] in self?.load($0) }
        list.onFocusLeaves = { [weak self] edge in
            if edge == .end { self?.onLeave?() }
            return true
        }
        list.onDragScroll = { [weak self] in self?.pointer?.dragScrolled() }
        scroller.onMap { [weak self] _ in self?.list.notifyAgain() }
        scroller.onUnmap { [weak media] _ in media?.pauseAudio() }
        activityMonitor.onChange = { [weak self] in self?.viewModel.send(.reading(.attended($0))) }
    }

    private func connectMenu() {
        menu.onAction = { [weak self] in self?.perform($1, on: $0) }
        menu.onExplainTrust = { [weak self] trust in
            self?.window.map { TrustDialog.present(trust, over: $0) }
        }
        menu.onSelect = { [weak self] in self?.viewModel.send(.selection(.toggle($0))) }
        menu.onReact = { [weak self] in self?.openReactions(for: $0, at: $1) }
        menu.onOpenLink = { [weak self] in self?.links.open($0, from: $1) }
        menu.onCopyAddress = { [weak self] link in
            if let self { MessageClipboard.write(link.target.address, of: widget) }
        }
    }

    private func makeReactions() -> ReactionPicker {
        let picker = ReactionPicker(parent: menuParent, rows: list)
        picker.onPick = { [weak self] in self?.perform($1, on: $0) }
        return picker
    }

    private func makeCalendar() -> DayPicker {
        let picker = DayPicker(parent: menuParent, rows: list)
        picker.onPick = { [weak self] in self?.viewModel.send(.pages(.jump(.date($0)))) }
        return picker
    }

    /// Opens the room of a mention, and the card of a person.
    private func open(_ activated: ActivatedMention) {
        if case .room = activated.mention.target, let link = activated.mention.target.link {
            links.open(BodyLink(unjudged: link), from: activated.text)
        } else if let content = mentionCard(activated.mention) {
            mentions.open(content, at: activated, avatars: media.avatars)
        }
    }

    /// Focuses a row.
    func grabFocus() { widget.grabFocus() }

    /// Opens the day picker.
    /// - Parameter date: The initial day; defaults to that of the message in view.
    func openCalendar(at widget: Widget, date: Date? = nil) {
        calendar.open(at: widget, date: date ?? scrollPosition.flatMap { sentAt($0.message) })
    }

    private func sentAt(_ message: MessageID) -> Date? {
        viewModel.rows.index(of: .message(message)).flatMap { viewModel.rows[$0].message?.sentAt }
    }

    /// Rebinds all rows, after a setting that affects them has changed.
    func showRowsAgain() { list.update(at: 0, count: viewModel.rows.count) }

    // MARK: Changes

    private func perform(_ effect: TimelineViewModel.Effect) {
        switch effect {
        case .changed(let changes):
            let focused = focusedID
            changes.forEach(apply)
            followFocus(from: focused)
            updatePaging()
        case .replaced:
            isRebuilt = true
            list.followsEnd = !viewModel.state.isDetached
            list.reset()
            updatePaging()
        case .revealOldest: list.scrollToStart(animated: !isRebuilt)
        case .revealNewest: list.scrollToEnd(animated: !isRebuilt)
        case .reveal(.unreadLine): list.scroll(to: TimelineItem.ID.unreadLine, at: .start, animated: !isRebuilt)
        case .reveal(let id):
            // Who jumps by keyboard goes on from there.
            if widget.stateFlags.contains(.focusWithin) { list.focus(id) }
            list.scroll(to: id, at: .center, animated: !isRebuilt)
            showFound(id)
        case .bringIntoView(let id): list.scroll(to: id, at: .nearest, animated: true)
        // An animation would end at the former end of the list, before the new rows.
        case .keepUnreadLineInView: list.scroll(to: TimelineItem.ID.unreadLine, at: .start)
        case .restore(let scrollPosition):
            list.restore(.row(TimelineItem.ID.message(scrollPosition.message), below: scrollPosition.offset))
        case .finishedLoading(let edge): finishLoading(edge == .older ? .start : .end)
        case .selectionChanged: showSelection()
        case .filesDeleted(let messages): media.endAudio(of: messages)
        case .arrived(let messages): onArrived?(messages)
        case .copy(let fragment): Clipboard.write(fragment, of: widget)
        case .copyText(let text): MessageClipboard.write(text, of: widget)
        case .confirm(let confirmation): confirm(confirmation)
        case .askBeforeReacting(let question): ask(question)
        case .forward(let messages): onForward?(messages)
        case .showHistory(let versions): window.map { HistoryDialog.present(versions, over: $0) }
        }
    }

    private func apply(_ change: TimelineChange) {
        switch change {
        case .insert(let range): list.insert(at: range.lowerBound, count: range.count)
        case .remove(let range): list.remove(at: range.lowerBound, count: range.count)
        case .update(let range): list.update(at: range.lowerBound, count: range.count)
        }
    }

    private var window: TopLevel? { widget.window }

    private func confirm(_ confirmation: TimelineConfirmation) {
        guard let window else { return }
        Confirmation.present(
            over: window, heading: confirmation.heading(.gettext), body: confirmation.body(.gettext),
            action: confirmation.button(.gettext)
        ) { [weak viewModel] in viewModel?.send(confirmation.action) }
    }

    private func ask(_ question: ReactionQuestion) {
        guard let window else { return }
        ReactionDialog.present(question, over: window) { [weak viewModel] answer in
            if let action = question.action(for: answer) { viewModel?.send(action) }
        }
    }

    private func showFound(_ id: TimelineItem.ID) {
        clearFound()
        let end = Timeout(after: Self.foundDuration) { [weak self] in self?.clearFound() }
        found = (id, end)
        (list.row(for: id) as? MessageRow)?.setFound(true)
    }

    private func clearFound() {
        guard let previous = found else { return }
        found = nil
        (list.row(for: previous.id) as? MessageRow)?.setFound(false)
    }

    private func showSelection() {
        for (_, row) in list.realizedRows {
            guard let row = row as? MessageRow, let item = row.item else { continue }
            row.select(viewModel.selectedRange(in: item))
        }
    }

    /// Highlights search matches in all messages, and the message of the current match.
    func highlight(_ terms: SearchTerms, current: MessageID?) {
        highlighted = (terms, current)
        for (_, row) in list.realizedRows {
            guard let row = row as? MessageRow else { continue }
            row.highlight(terms, isCurrent: current != nil && current == row.item?.id)
        }
    }

    // MARK: Paging

    private func updatePaging() {
        let state = viewModel.state
        // Do not follow the end of a detached range: newer pages will be appended to it.
        if list.followsEnd == state.isDetached { list.followsEnd = !state.isDetached }
        var more: Set<TimelineListEdge> = []
        if state.hasOlder, !state.isClosed { more.insert(.start) }
        if state.isDetached, !state.isClosed { more.insert(.end) }
        if list.moreRows != more { list.moreRows = more }
    }

    private func load(_ edge: TimelineListEdge) {
        viewModel.send(.pages(.load(edge == .start ? .older : .newer)))
    }

    private func finishLoading(_ edge: TimelineListEdge) {
        updatePaging()
        list.finishedLoading(edge, hasMore: list.moreRows.contains(edge))
    }

    // MARK: Scroll position

    private func positionChanged() {
        // Before the first layout the list seems to be at its end, which would mark all messages as read.
        guard list.isLaidOut else { return }
        isRebuilt = false
        let isAtEnd = list.isAtEnd && !viewModel.state.isDetached
        onAtEnd?(isAtEnd)
        guard scroller.isMapped, list.count > 0 else { return }
        if isAtEnd {
            viewModel.send(.reading(.scrolled(to: nil)))
        } else if let scrollPosition {
            viewModel.send(.reading(.scrolled(to: scrollPosition)))
        }
    }

    /// The lowest message whose bottom edge is in view, or else the first visible message.
    private var scrollPosition: ScrollPosition? {
        let height = Double(widget.height)
        var partly: ScrollPosition?
        for index in list.visibleRows.reversed() {
            guard index < viewModel.rows.count, let message = viewModel.rows[index].message,
                let bounds = list.bounds(of: viewModel.rows[index].id)
            else { continue }
            let position = ScrollPosition(message: message.id, offset: bounds.top + bounds.height - height)
            if position.offset <= 0 { return position }
            partly = position
        }
        return partly
    }
}

extension TimelineView: TimelineListSource {
    var count: Int { viewModel.rows.count }
    func key(at index: Int) -> AnyHashable { viewModel.rows[index].id }
    func index(of key: AnyHashable) -> Int? { (key.base as? TimelineItem.ID).flatMap(viewModel.rows.index(of:)) }
    func kind(at index: Int) -> Int { TimelineRowKind(viewModel.rows[index]).rawValue }
    func canFocus(at index: Int) -> Bool {
        let item = viewModel.rows[index]
        return item.message != nil || item.events?.canExpand == true
    }

    func makeRow(kind: Int) -> any TimelineListRow {
        switch TimelineRowKind(rawValue: kind) {
        case .message: makeMessageRow(isOwn: false)
        case .ownMessage: makeMessageRow(isOwn: true)
        case .day: DayRow { [weak self] in self?.openCalendar(at: $0, date: $1) }
        case .unreadLine: UnreadLineRow()
        case .events: EventRow(avatarLoader: media.avatars) { [weak self] in self?.toggleEvents($0) }
        case .more, nil: MoreRow()
        }
    }

    private func makeMessageRow(isOwn: Bool) -> MessageRow {
        MessageRow(
            isOwn: isOwn, media: media, linkPreviews: { [weak self] in self?.linkPreviews() }, outputs: rowOutputs)
    }

    private var rowOutputs: MessageRow.Outputs {
        MessageRow.Outputs(
            menuRequested: { [weak self] in self?.openMenu(of: $0) },
            reactionsRequested: { [weak self] in self?.openReactions(of: $0) },
            actionRequested: { [weak self] in self?.perform($0, on: $1) },
            jumpRequested: { [weak self] in self?.viewModel.send(.pages(.jump(.message($0)))) },
            linkActivated: { [weak self] in self?.links.open($0, from: $1) },
            mentionActivated: { [weak self] in self?.open($0) },
            fullTextRequested: { [weak self] message in
                if let window = self?.window { WholeMessageDialog.present(message, over: window) }
            },
            sealHelp: { [weak self] in self?.sealHelp($0) },
            helpRequested: { [weak self] in self?.onHelp?($0) },
            detailsToggled: { [weak self] row in
                if let item = row.item { self?.list.holdTop(of: TimelineItem.ID.message(item.id)) }
            }, revealed: revealed)
    }

    func bind(_ row: any TimelineListRow, at index: Int) {
        guard let row = row as? any TimelineRow else { return }
        let item = viewModel.rows[index]
        row.show(item, selected: item.message.flatMap(viewModel.selectedRange(in:)))
        (row as? MessageRow)?.setFound(found?.id == item.id)
        (row as? MessageRow)?.highlight(
            highlighted.terms, isCurrent: highlighted.current != nil && highlighted.current == item.message?.id)
    }
}

// Requests from rows, menus and keys.
extension TimelineView {
    func openMenu(of row: MessageRow) {
        if let item = row.item { menu.open(for: item, at: row.menuAnchor) }
    }

    private func perform(_ action: MessageAction, on message: MessageID) { viewModel.send(.message(message, action)) }

    /// Expands or collapses a row of events, with its summary where it is.
    func toggleEvents(_ id: MessageID) {
        list.holdTop(of: TimelineItem.ID.events(id))
        viewModel.send(.message(id, .toggleEvents))
    }

    func openReactions(of row: MessageRow) {
        if let item = row.item, item.canReact { openReactions(for: item.id, at: row.reactionAnchor) }
    }

    /// Opens the picker at the message's own button if its row exists, or else at `widget`.
    private func openReactions(for id: MessageID, at widget: Widget) {
        let row = list.row(for: TimelineItem.ID.message(id)) as? MessageRow
        guard let item = row?.item ?? viewModel.rows.message(viewModel.currentID(of: id)) else { return }
        reactions.open(for: item, at: row?.reactionAnchor ?? widget)
    }
}
