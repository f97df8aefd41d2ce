import CGtk
import ChatCore
import ChatViewModels
import Composer
import ComposerGtk
import GtkKit
import MediaGtk

/// An open room: header, timeline, typing indicator and composer. It can show one room after another, which keeps the
/// widgets and their computed styles.
final class ConversationView {
    /// Events in the room that concern the window.
    struct Outputs {
        /// The user wants to forward these messages to another room.
        var forwardingRequested: ([MessageID]) -> Void
        /// The user activated a mention of a room with this address; `nil` if that is not supported.
        var addressActivated: ((String) -> Void)?
    }

    /// Returns the name and avatar of a room by its ID or address.
    typealias RoomLookup = (_ address: String) -> (name: String?, avatarURI: String?)

    let widget: Box

    private(set) var conversation: Conversation
    private let title: WindowTitle
    private let titleButton: Button
    private let backButton: Button
    private let header: HeaderBar
    private let stack: Stack
    private let emptyPage: StatusPage
    private let typing: Label
    private let latest: Revealer
    private let latestCount: Label
    let timeline: TimelineView
    let searchBar: RoomSearchBar
    let composer: ComposerView
    private let timelineOverlay: Overlay
    private let media: MediaPresenter
    private let keyboardPan: KeyboardPan
    private let announcer = Announcer()
    let selectionBar = SelectionBar()
    let retryBar = RetryBar()
    private let sendingLabel = Label()
    private let lock: Widget
    private let trustBar: TrustBar
    private let upgradedRoomBanner = UpgradedRoomBanner()
    let hiddenDraftBar = HiddenDraftBar()
    private let actions = ActionGroup()
    private var renderings: [Rendering] = []
    private let outputs: Outputs
    private let lookUpRoom: RoomLookup
    private var room: (name: String, kind: Room.Kind) = ("", .group)
    private var headerRendering: Rendering?
    /// Whether the timeline has reported its position since the room was opened.
    private var hasPosition = false
    private var previewsChanged: SignalConnection?
    private let settings: Settings?
    /// Whether the view is in a room's own window, without a room list.
    private let isInOwnWindow: Bool

    init(
        conversation: Conversation, settings: Settings? = nil, avatars: AvatarLoader? = nil,
        isInOwnWindow: Bool = false, lookUpRoom: @escaping RoomLookup, outputs: Outputs
    ) {
        self.conversation = conversation
        self.lookUpRoom = lookUpRoom
        self.outputs = outputs
        self.settings = settings
        self.isInOwnWindow = isInOwnWindow
        trustBar = TrustBar(isInOwnWindow: isInOwnWindow)
        // The GType must be registered before the `.ui` file refers to it.
        _ = ComposerHost.type
        let builder = Builder(resource: Resource.ui("conversation"))
        widget = builder["conversation"]
        title = builder["title"]
        titleButton = builder["title_button"]
        backButton = builder["back_button"]
        lock = builder["lock"]
        header = builder["header"]
        header.hideBackButton()
        builder["room_menu_button", MenuButton.self].setMenu(builder["room_menu", Object.self])
        stack = builder["timeline_stack"]
        emptyPage = builder["empty_page"]
        emptyPage.setIconWhenShown("parlance-chat-symbolic")
        typing = builder["typing_label"]
        latest = builder["latest_revealer"]
        latestCount = builder["latest_count"]
        media = MediaPresenter(service: conversation.media, avatars: avatars)
        timeline = TimelineView(
            viewModel: conversation.timeline, media: media, scroller: builder["scroller"],
            menuParent: builder["conversation"])
        keyboardPan = KeyboardPan(over: widget)
        searchBar = RoomSearchBar(viewModel: conversation.search)
        timelineOverlay = builder["timeline_overlay"]
        composer = ComposerView(viewModel: conversation.composer)
        timeline.linkPreviews = { [weak self] in
            self?.settings?.bool("link-previews") == true ? self?.conversation.timeline.linkPreviews : nil
        }
        widget.insert(searchBar.widget, after: header)
        ComposerHost.of(builder["host"])?.setComposer(composer.widget)
        settings?.bind("style-markdown", to: composer.widget, "styles-markdown")
        settings?.bind("formatting-toolbar", to: composer.widget, "shows-formatting")
        settings?.bind("character-counter", to: composer.widget, "shows-counter")
        composer.makeCard = { [weak self] in self?.card(of: $0) }
        previewsChanged = settings?.onChange(of: "link-previews") { [weak self] in self?.timeline.showRowsAgain() }
        builder["latest_button", Button.self].onClick { [weak self] in self?.jumpToLatest() }
        timeline.onAtEnd = { [weak self] in self?.latestChanged(isAtEnd: $0) }
        timeline.onLeave = { [weak self] in self?.focusComposer() }
        timeline.onType = { [weak self] in _ = self?.type($0) }
        actions.add("focus-timeline") { [weak self] in self?.focusTimeline() }
        timeline.onForward = outputs.forwardingRequested
        timeline.sealHelp = { [weak self] in self?.conversation.help(for: $0) }
        timeline.mentionCard = { [weak self] in self?.card(of: $0) }
        timeline.onHelp = { [weak self] in self?.conversation.help($0) }
        searchBar.onClose = { [weak self] in self?.searchClosed() }
        timeline.onArrived = { [weak self] in self?.announce($0) }
        timelineOverlay.addOverlay(announcer.region)
        addMarking(to: builder["footer"])
        addSendingLabel(to: builder["footer"])
        builder["footer", Box.self].append(upgradedRoomBanner.widget)
        builder["footer", Box.self].append(hiddenDraftBar.widget)
        hiddenDraftBar.onMove = { [weak self] in self?.moveDraft() }
        widget.insert(trustBar.widget, after: searchBar.widget)
        addCopying()
        // Dragging a finger from the messages down over the composer hides the on-screen keyboard (SLK-49).
        keyboardPan.onMove = { [weak self] in self?.fingerMoved(from: $0, to: $1) }
        widget.insertActions(actions, prefix: "conversation")
        bind()
    }

    isolated deinit { previewsChanged?.disconnect() }

    // MARK: The room

    /// Shows another room of the same account.
    func show(_ conversation: Conversation) {
        guard conversation !== self.conversation else { return }
        // While the view is unmapped, GTK runs no animations, and closes popovers and gestures: nothing of the previous
        // room fades out over the next one.
        let isMapped = widget.isMapped
        if isMapped { widget.isChildVisible = false }
        (renderings, headerRendering, focusBeforeSearch) = ([], nil, nil)
        self.conversation = conversation
        announcer.post("")
        hasPosition = false
        latest.isRevealed = false
        latest.canTarget = false
        latestCount.isVisible = false
        timeline.show(conversation.timeline)
        searchBar.show(conversation.search)
        composer.show(conversation.composer)
        bind()
        if isMapped { widget.isChildVisible = true }
    }

    private func bind() {
        media.preferences = { [preferences = conversation.preferences] in preferences.media }
        media.onFailure = { [composer = conversation.composer] in composer.report($0) }
        composer.avatars = CompletionAvatars(avatarLoader: media.avatars) {
            [weak timeline = conversation.timeline, lookUpRoom] id in
            // A member without an avatar is looked for no further: that goes through all rooms.
            if let member = timeline?.member(MemberID(id)) { return member.avatar }
            return lookUpRoom(id).avatarURI
        }
        composer.acceptDrops(on: widget, hint: timelineOverlay)
        trustBar.show(conversation)
        showHeader(name: "", kind: .group)
        renderings = makeRenderings()
    }

    private func makeRenderings() -> [Rendering] {
        let conversation = conversation
        return [
            Rendering({ conversation.timeline.state }, { [weak self] in self?.render($0) }),
            Rendering(
                { conversation.timeline.ownUserID },
                { [weak self] in self?.composer.currentUserEntityID = $0?.rawValue }),
            Rendering({ conversation.isEncrypted }, { [weak self] in self?.lock.isVisible = $0 }),
            Rendering({ conversation.sealHelp }, { [weak self] _ in self?.timeline.showRowsAgain() }),
            Rendering({ ClockFormat.desktop.isTwelveHour }, { [weak self] _ in self?.timeline.showRowsAgain() }),
            Rendering({ conversation.hiddenDraft }, { [weak self] in self?.hiddenDraftBar.show($0) }),
            Rendering({ conversation.succession }, { [weak self] in self?.upgradedRoomBanner.show($0) }),
            Rendering({ conversation.sendingNotice(.gettext) }, { [weak self] in self?.showNotice($0) }),
            Rendering({ conversation.acceptsMessages }, { [weak self] in self?.showComposer($0) }),
            Rendering({ conversation.search.state }, { [weak self] in self?.showMatches($0) }),
            Rendering({ conversation.composer.state.composer.typing }, { [weak self] in self?.typing.text = $0 ?? "" }),
        ]
    }

    /// Moves the draft of an upgraded room, and opens the new room as the notice above does.
    private func moveDraft() {
        Task { [weak self, conversation] in
            guard let link = await conversation.moveDraft() else { return }
            self?.widget.activateAction("win.open-address", link)
        }
    }

    private func addSendingLabel(to footer: Box) {
        sendingLabel.addStyle("encrypted-notice")
        sendingLabel.wrap = true
        sendingLabel.isVisible = false
        footer.append(sendingLabel)
    }

    private func showNotice(_ notice: String?) {
        sendingLabel.text = notice ?? ""
        sendingLabel.isVisible = notice != nil
    }

    /// Hides the composer if the user can't send messages; its draft is retained.
    private func showComposer(_ isVisible: Bool) {
        // That nothing can be sent may be known only once the user is in the search or the room list.
        let hadFocus = focusedRegion == .composer
        composer.widget.isVisible = isVisible
        if !isVisible, hadFocus { focusTimeline() }
    }

    /// Opens the file chooser, unless the composer is hidden: its draft must not change unseen.
    func addFiles() { if conversation.acceptsMessages { composer.chooseFiles() } }

    // MARK: Mentions

    private func card(of mention: Mention) -> UserCard.Content? {
        let card = MentionCard(
            mention, members: conversation.timeline.members, kind: room.kind,
            room: lookUpRoom, translator: .gettext)
        guard let card else { return nil }
        return UserCard.Content(card: card, open: card.opening.flatMap(opener))
    }

    /// What the card's button does.
    private func opener(of opening: MentionCard.Opening) -> (@MainActor () -> Void)? {
        guard let open = outputs.addressActivated else { return nil }
        return { [weak self] in
            self?.composer.closeCard()
            open(opening.address)
        }
    }

    // MARK: Search

    private var focusBeforeSearch: Widget?

    func openSearch() {
        // The list itself instead of a row, which is recycled while the search scrolls.
        if !searchBar.field.hasFocus { focusBeforeSearch = focusedRegion == .timeline ? timeline.widget : focus }
        searchBar.open()
    }

    func stepSearch(newer: Bool) {
        guard conversation.search.state.isOpen else { return openSearch() }
        conversation.search.send(newer ? .stepNewer : .stepOlder)
    }

    private func searchClosed() {
        if focusBeforeSearch?.grabFocus() != true { focusComposer() }
        focusBeforeSearch = nil
    }

    private var focus: Widget? {
        guard let focus = widget.root?.focus, widget.isAncestor(of: focus) else { return nil }
        return focus
    }

    private func showMatches(_ state: RoomSearchViewModel.State) {
        timeline.highlight(state.isOpen ? state.terms : SearchTerms(terms: []), current: state.currentMessage)
    }

    /// Focuses the composer, or the timeline if that is hidden: GTK gives the focus to what nobody sees.
    func focusComposer() { if composer.widget.isVisible { composer.grabFocus() } else { focusTimeline() } }
    /// Focuses the timeline, unless a room without messages shows a page in its place.
    func focusTimeline() { if showsMessages { timeline.grabFocus() } }

    /// The parts of the room that the keyboard cycles through.
    nonisolated enum Region {
        case timeline, composer
    }

    /// The regions that are on the screen, from top to bottom.
    var regions: [Region] {
        var regions: [Region] = []
        if showsMessages { regions.append(.timeline) }
        if composer.widget.isMapped { regions.append(.composer) }
        return regions
    }

    /// The region that has or contains the window's focus.
    var focusedRegion: Region? {
        guard let focus else { return nil }
        if focus.isSame(as: timeline.widget) || timeline.widget.isAncestor(of: focus) { return .timeline }
        return composer.widget.isAncestor(of: focus) ? .composer : nil
    }

    private var showsMessages: Bool { timeline.widget.isMapped }
    func retryFailed() { conversation.timeline.send(.failed(.retryAll)) }
    func confirmDiscardingAll() { conversation.timeline.send(.failed(.requestDiscard)) }
    func scrollToEnd() { conversation.timeline.send(.pages(.jump(.newest))) }

    /// Shows the room's name, and the back button if the room list is on another page.
    func show(_ row: RoomListViewModel.Row, isFolded: Bool) {
        if room != (row.name, row.kind) { showHeader(name: row.name, kind: row.kind) }
        composer.hasOthers = row.hasOthers
        backButton.isVisible = isFolded
        header.showsStartTitleButtons = isFolded || isInOwnWindow
        latestCount.isVisible = row.unreadLabel != nil
        latestCount.text = row.unreadLabel ?? ""
    }

    private func render(_ state: TimelineViewModel.State) {
        selectionBar.show(state.selection)
        retryBar.show(state)
        retainFocus()
        stack.visibleChild = state.isEmpty ? "empty" : "messages"
    }

    /// Takes the focus from a bar that goes away: GTK would give it to the next button.
    private func retainFocus() {
        guard let focus else { return }
        let bars = [selectionBar.widget, retryBar.widget]
        if bars.contains(where: { !$0.isRevealed && $0.isAncestor(of: focus) }) { focusComposer() }
    }

    private func showHeader(name: String, kind: Room.Kind) {
        room = (name, kind)
        headerRendering = Rendering({ [conversation] in conversation.header(name: name, kind: kind) }) {
            [title, titleButton, emptyPage, composer] header in
            title.setTitle(header.name)
            title.setSubtitle(header.subtitle(.gettext))
            titleButton.setAccessibleLabel(header.accessibleTitle(.gettext))
            composer.bar.placeholder = header.placeholder(.gettext)
            emptyPage.title = header.emptyTitle(.gettext)
            emptyPage.descriptionMarkup = header.emptyDescription(.gettext)
        }
    }

    /// Whether the button that jumps to the newest message is shown.
    var isLatestVisible: Bool { latest.isRevealed }
    var composerHasFocus: Bool { composer.hasFocus }
    /// The distance from this view's top to the composer, in pixels.
    var composerTop: Double? { composer.widget.bounds(in: widget)?.y }

    func jumpToLatest() {
        scrollToEnd()
        focusComposer()
    }

    private func latestChanged(isAtEnd: Bool) {
        if hasPosition { latest.isRevealed = !isAtEnd } else { showLatest(!isAtEnd) }
        hasPosition = true
        // A hidden revealer would still cover the newest message and intercept its clicks.
        latest.canTarget = !isAtEnd
    }

    /// Shows the button without an animation while the room opens: the user did not cause the change, and it would draw
    /// 15 more frames.
    private func showLatest(_ isShown: Bool) {
        latest.withPointer { gtk_revealer_set_transition_type($0, GTK_REVEALER_TRANSITION_TYPE_NONE) }
        latest.isRevealed = isShown
        latest.withPointer { gtk_revealer_set_transition_type($0, GTK_REVEALER_TRANSITION_TYPE_CROSSFADE) }
    }

    /// The last announced text.
    var announced: String { announcer.text }

    /// Announces received messages if the window is active.
    private func announce(_ messages: [MessageItem]) {
        guard widget.window?.isActive == true else { return }
        announcer.post(MessageText.localized.announcement(messages))
    }

    // MARK: Selected messages

    private func addMarking(to footer: Box) {
        footer.prepend(selectionBar.widget)
        footer.append(retryBar.widget)
        retryBar.onRetry = { [weak self] in self?.retryFailed() }
        retryBar.onDiscard = { [weak self] in self?.confirmDiscardingAll() }
        selectionBar.onCancel = { [weak self] in self?.select(.clear) }
        selectionBar.onCopy = { [weak self] in self?.select(.copy(focused: nil)) }
        selectionBar.onForward = { [weak self] in self?.select(.forward) }
        selectionBar.onDelete = { [weak self] in self?.select(.requestDeletion) }
    }

    private func select(_ action: TimelineViewModel.SelectionAction) {
        conversation.timeline.send(.selection(action))
    }

    func openCalendar() { timeline.openCalendar(at: header) }

    // MARK: Keys and touch across timeline and composer

    /// Type-ahead: focuses the composer and forwards the controller's current key event to it.
    /// - Returns: `false` if the user can't write here.
    func type(_ key: KeyPress) -> Bool {
        guard composer.widget.isVisible else { return false }
        composer.grabFocus()
        key.forward(to: composer.textView)
        return true
    }

    /// Handles Ctrl+C for the timeline's selection, since selecting with the mouse leaves the focus in the composer
    /// (SLK-48).
    private func addCopying() {
        let keys = KeyController(.capture)
        keys.onPress { [weak self] key in
            guard let self, key.modifiers.contains(.control) else { return false }
            guard key.key == GDK_KEY_c || key.key == GDK_KEY_C,
                self.conversation.composer.state.composer.selection.isEmpty
            else { return false }
            // A search field with the focus copies its own selection.
            if self.focus?.isInstance(of: gtk_editable_get_type()) == true { return false }
            guard self.conversation.timeline.hasSelection else { return false }
            self.conversation.timeline.send(.selection(.copy(focused: nil)))
            return true
        }
        widget.addController(keys)
    }

    /// How far a finger must move below the composer's top to hide the on-screen keyboard, in pixels.
    private static let panLength = 24.0

    /// Hides the on-screen keyboard when a finger moves from above the composer's top to below it; positions are in
    /// pixels from this view's top.
    func fingerMoved(from start: Double, to y: Double) {
        guard let top = composerTop, start < top, y > top + Self.panLength,
            composerHasFocus
        else { return }
        timeline.grabFocus()
    }
}
