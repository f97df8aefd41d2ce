import CGtk
import ChatCore
import ChatViewModels
import Composer
import GtkKit

/// An open room: header, timeline, typing indicator and composer.
final class ConversationView {
    let widget: Widget

    private let conversation: Conversation
    private let title: Widget
    private let backButton: Button
    private let header: Widget
    private let stack: Stack
    private let emptyPage: Widget
    private let typing: Label
    private let latest: Revealer
    private let latestCount: Label
    let timeline: TimelineView
    let searchBar: RoomSearchBar
    let composer: ComposerView
    private let keyboardPan: KeyboardPan
    private let announcer = Announcer()
    let selectionBar = SelectionBar()
    let retryBar = RetryBar()
    private let encryptedRoomLabel = Label()
    private let upgradedRoomBanner = UpgradedRoomBanner()
    private let actions = ActionGroup()
    private var renderings: [Rendering] = []
    /// Called to choose the room to forward messages to.
    var onForward: (([MessageID]) -> Void)?
    /// Opens a user or room by its Matrix ID or address; `nil` if that is not supported.
    var onOpen: ((String) -> Void)?
    /// Returns the name of a room by ID or alias.
    var roomNamed: (String) -> String? = { _ in nil }
    /// Returns the avatar URI of another room, or `nil` if it has none.
    var roomAvatar: (RoomID) -> String? = { _ in nil }
    private var roomName = ""
    private var kind = Room.Kind.group
    private var previewsChanged: SignalConnection?
    private let settings: Settings?

    init(conversation: Conversation, settings: Settings? = nil, avatars: AvatarLoader? = nil) {
        self.conversation = conversation
        self.settings = settings
        // The GType must be registered before the `.ui` file refers to it.
        _ = ComposerHost.type
        let builder = Builder(resource: Resource.ui("conversation"))
        widget = builder["conversation"]
        title = builder["title"]
        backButton = builder["back_button"]
        header = builder["header"]
        stack = builder["timeline_stack"]
        emptyPage = builder["empty_page"]
        typing = builder["typing_label"]
        latest = builder["latest_revealer"]
        latestCount = builder["latest_count"]
        let media = MediaPresenter(service: conversation.media, avatars: avatars)
        media.linkPreviews = { [weak settings, weak timeline = conversation.timeline] in
            settings?.bool("link-previews") == true ? timeline?.linkPreviews : nil
        }
        media.onFailure = { conversation.composer.report($0) }
        timeline = TimelineView(
            viewModel: conversation.timeline, media: media, scroller: builder["scroller"],
            menuParent: builder["conversation"])
        composer = ComposerView(viewModel: conversation.composer)
        keyboardPan = KeyboardPan(over: widget)
        searchBar = RoomSearchBar(viewModel: conversation.search)
        composer.avatars = CompletionAvatars(avatarLoader: media.avatars) { [weak self] id in
            self?.conversation.timeline.avatar(of: MemberID(id)) ?? self?.roomAvatar(RoomID(id))
        }
        gtk_box_insert_child_after(widget.cast(), searchBar.widget.cast(), header.cast())
        ComposerHost.of(builder["host"])?.setComposer(composer.widget)
        settings?.bind("style-markdown", to: composer.widget, "styles-markdown")
        settings?.bind("formatting-toolbar", to: composer.widget, "shows-formatting")
        settings?.bind("character-counter", to: composer.widget, "shows-counter")
        composer.makeCard = { [weak self] in self?.card(of: $0) }
        previewsChanged = settings?.onChange(of: "link-previews") { [weak self] in self?.timeline.showRowsAgain() }
        composer.attachmentController?.acceptDrops(on: widget, hint: builder["timeline_overlay"])
        builder["latest_button", Button.self].onClick { [weak self] in self?.jumpToLatest() }
        timeline.onAtEnd = { [weak self] in self?.latestChanged(isAtEnd: $0) }
        timeline.onLeave = { [weak self] in self?.composer.grabFocus() }
        timeline.onType = { [weak self] in _ = self?.type($0) }
        actions.add("focus-timeline") { [weak self] in self?.timeline.grabFocus() }
        timeline.onHistory = { [weak self] in self?.showHistory(of: $0) }
        timeline.onForward = { [weak self] in self?.onForward?($0) }
        searchBar.onClose = { [weak self] in self?.searchClosed() }
        timeline.onArrived = { [weak self] in self?.announce($0) }
        gtk_overlay_add_overlay(builder["timeline_overlay", Widget.self].cast(), announcer.region.cast())
        addMarking(to: builder["footer"])
        addEncryptedRoomLabel(to: builder["footer"])
        builder["footer", Box.self].append(upgradedRoomBanner.widget)
        addCopying()
        // Dragging a finger from the messages down over the composer hides the on-screen keyboard (SLK-49).
        keyboardPan.onMove = { [weak self] in self?.fingerMoved(from: $0, to: $1) }
        widget.insertActions(actions, prefix: "conversation")
        renderings = [
            Rendering({ conversation.timeline.state }, { [weak self] in self?.render($0) }),
            Rendering({ conversation.headline }, { [weak self] _ in self?.showSubtitle() }),
            Rendering({ conversation.succession }, { [weak self] in self?.upgradedRoomBanner.show($0) }),
            Rendering({ conversation.isEncrypted }, { [weak self] in self?.encryptedRoomLabel.isVisible = $0 }),
            Rendering({ conversation.acceptsMessages }, { [weak self] in self?.showComposer($0) }),
            Rendering({ conversation.search.state }, { [weak self] in self?.showMatches($0) }),
            Rendering({ conversation.composer.state.composer.typing }, { [weak self] in self?.typing.text = $0 ?? "" }),
        ]
    }

    isolated deinit { previewsChanged?.disconnect() }

    private func addEncryptedRoomLabel(to footer: Box) {
        encryptedRoomLabel.text = translated("Parlance cannot send into encrypted rooms yet.")
        encryptedRoomLabel.addStyle("encrypted-notice")
        gtk_label_set_wrap(encryptedRoomLabel.cast(), 1)
        encryptedRoomLabel.isVisible = false
        footer.append(encryptedRoomLabel)
    }

    /// Hides the composer if the user can't send messages; its draft is retained.
    private func showComposer(_ isThere: Bool) {
        composer.widget.isVisible = isThere
        if !isThere { timeline.grabFocus() }
    }

    func addFiles() { composer.attachmentController?.choose() }

    // MARK: Mentions

    /// Returns the card of a mention by its target, regardless of its text (HKW-56).
    private func card(of mention: Mention) -> UserCard.Content? {
        let written = String(mention.text.drop { $0 == "@" || $0 == "#" })
        switch mention.target {
        case .everyone:
            return UserCard.Content(
                name: translated("Everyone in this room"), identifier: "", icon: "system-users-symbolic")
        case .member(let id):
            let member = conversation.timeline.state.members.first { $0.id.rawValue == id }
            let isOther = member?.kind != .own && kind != .direct
            return UserCard.Content(
                name: member?.displayName ?? written, identifier: id,
                avatarURI: conversation.timeline.avatar(of: MemberID(id)),
                action: isOther ? open(id, translated("_Message")) : nil)
        case .room(let id, _):
            return UserCard.Content(
                name: roomNamed(id) ?? written, identifier: id, avatarURI: roomAvatar(RoomID(id)),
                action: open(id, translated("_Open")))
        case .custom:
            return nil
        }
    }

    private func open(_ address: String, _ label: String) -> (label: String, run: @MainActor () -> Void)? {
        guard let onOpen else { return nil }
        return (
            label,
            { [weak self] in
                self?.composer.closeCard()
                onOpen(address)
            }
        )
    }

    // MARK: Search

    private var focusBeforeSearch: Widget?

    func openSearch() {
        if !searchBar.field.hasFocus { focusBeforeSearch = focus }
        searchBar.open()
    }

    func stepSearch(newer: Bool) {
        guard conversation.search.state.isOpen else { return openSearch() }
        conversation.search.send(newer ? .stepNewer : .stepOlder)
    }

    private func searchClosed() {
        if focusBeforeSearch?.grabFocus() != true { composer.grabFocus() }
        focusBeforeSearch = nil
    }

    private var focus: Widget? {
        guard let root = gtk_widget_get_root(widget.cast()), let focus = gtk_root_get_focus(root),
            gtk_widget_is_ancestor(focus, widget.cast()) != 0
        else { return nil }
        return Widget(borrowing: focus)
    }

    private func showMatches(_ state: RoomSearchViewModel.State) {
        timeline.highlight(state.isOpen ? state.terms : SearchTerms(terms: []), current: state.currentMessage)
    }

    func focusComposer() { composer.grabFocus() }
    func focusTimeline() { timeline.grabFocus() }
    func retryFailed() { conversation.timeline.send(.retryAll) }
    func scrollToEnd() { conversation.timeline.send(.jump(.newest)) }

    /// Shows the room's name, and the back button if the room list is on another page.
    func show(_ row: RoomListViewModel.Row, isFolded: Bool) {
        roomName = row.name
        if kind != row.kind {
            kind = row.kind
            showSubtitle()
        }
        composer.hasOthers = row.kind != .notes
        title.setProperty("title", row.name)
        backButton.isVisible = isFolded
        latestCount.isVisible = row.unreadLabel != nil
        latestCount.text = row.unreadLabel ?? ""
        header.setProperty("show-start-title-buttons", isFolded)
        emptyPage.setProperty("title", row.kind == .notes ? translated("Notes to Yourself") : row.name)
        emptyPage.setProperty(
            "description",
            row.kind == .notes
                ? translated("What you write here stays on this computer.") : translated("Nothing was said here yet."))
    }

    private func render(_ state: TimelineViewModel.State) {
        composer.currentUserEntityID = state.members.first { $0.kind == .own }?.id.rawValue
        selectionBar.show(state)
        retryBar.show(state)
        stack.visibleChild = state.isEmpty ? "empty" : "messages"
        showSubtitle()
    }

    private func showSubtitle() {
        title.setProperty("subtitle", subtitle(conversation.timeline.state.otherMembers.count))
    }

    /// The topic, or else the member count; empty for direct chats, where the title suffices.
    private func subtitle(_ others: Int) -> String {
        if let topic = conversation.headline.topic { return topic }
        if kind == .direct || kind == .guide { return "" }
        let count = max(conversation.headline.memberCount ?? 0, others + 1)
        if count == 1 { return translated("Only you") }
        return translated("{count} member", "{count} members", count: count).replacing("{count}", with: "\(count)")
    }

    /// Whether the button that jumps to the newest message is shown.
    var isLatestVisible: Bool { latest.isRevealed }
    var composerHasFocus: Bool { composer.hasFocus }
    /// The distance from this view's top to the composer, in pixels.
    var composerTop: Double? { composer.widget.bounds(in: widget)?.y }

    func jumpToLatest() {
        scrollToEnd()
        composer.grabFocus()
    }

    private func latestChanged(isAtEnd: Bool) {
        latest.isRevealed = !isAtEnd
        // A hidden revealer would still cover the newest message and intercept its clicks.
        gtk_widget_set_can_target(latest.cast(), isAtEnd ? 0 : 1)
    }

    /// The last announced text.
    var announced: String { announcer.text }

    /// Announces received messages if the window is active; for more than three only their number.
    private func announce(_ messages: [MessageItem]) {
        guard let root = gtk_widget_get_root(widget.cast()) else { return }
        let window = Widget(borrowing: UnsafeMutableRawPointer(root))
        guard gtk_window_is_active(window.cast()) != 0 else { return }
        if messages.count > 3 {
            let text = translated("%d new message", "%d new messages", count: messages.count)
            announcer.post(text.replacing("%d", with: String(messages.count)))
        } else {
            announcer.post(messages.map { "\($0.senderName): \($0.displayedText)" }.joined(separator: "\n"))
        }
    }

    private func showHistory(of message: MessageID) {
        Task { [weak self, timeline = conversation.timeline] in
            do {
                let versions = try await timeline.history(of: message)
                guard let self, let root = gtk_widget_get_root(self.widget.cast()) else { return }
                HistoryDialog.present(versions, over: Widget(borrowing: UnsafeMutableRawPointer(root)))
            } catch {
                timeline.onOutput?(.failed(ChatError(error)))
            }
        }
    }

    // MARK: Selected messages

    private func addMarking(to footer: Box) {
        gtk_box_prepend(footer.cast(), selectionBar.widget.cast())
        footer.append(retryBar.widget)
        let model = conversation.timeline
        retryBar.onRetry = { [weak model] in model?.send(.retryAll) }
        retryBar.onDiscard = { [weak self] in self?.confirmDiscardingAll() }
        selectionBar.onCancel = { [weak model] in model?.send(.clearSelection) }
        selectionBar.onCopy = { [weak self] in self?.timeline.copySelectedMessages() }
        selectionBar.onForward = { [weak self, weak model] in
            guard let model else { return }
            self?.onForward?(Array(model.selectedMessages.keys))
            model.send(.clearSelection)
        }
        selectionBar.onDelete = { [weak self] in self?.confirmDeletingSelected() }
        timeline.onDeleteSelected = { [weak self] in self?.confirmDeletingSelected() }
        timeline.onDelete = { [weak self] in self?.confirmDeleting($0) }
    }

    private func confirmDeletingSelected() {
        let count = conversation.timeline.state.selectedCount
        let heading = translated("Delete %d message?", "Delete %d messages?", count: count)
        confirm(
            heading.replacing("%d", with: "\(count)"), forEveryone, translated("_Delete")
        ) { $0.send(.deleteSelected) }
    }

    private func confirmDeleting(_ message: MessageItem) {
        let delete = { @MainActor (model: TimelineViewModel) in model.send(.delete(message.id)) }
        let forEveryone = forEveryone
        if message.upload != nil {
            // Pending uploads have not been sent: no confirmation is needed.
            conversation.timeline.send(.discard(message.id))
        } else if message.delivery == .failed {
            confirm(
                translated("Discard the message?"), translated("It was not sent. Nobody else has what it says."),
                translated("_Discard"), delete)
        } else {
            confirm(translated("Delete the message?"), forEveryone, translated("_Delete"), delete)
        }
    }

    func confirmDiscardingAll() {
        let count = conversation.timeline.state.failedCount
        guard count > 0 else { return }
        let heading = translated("Discard %d message?", "Discard %d messages?", count: count)
        confirm(
            heading.replacing("%d", with: "\(count)"),
            translated("What was not sent is deleted. Nobody else has what it says."), translated("_Discard")
        ) { $0.send(.discardAll) }
    }

    private var forEveryone: String {
        conversation.timeline.state.otherMembers.isEmpty
            ? translated("Only you are in this room. What was said cannot be brought back.")
            : translated("What was said is deleted for everyone in the room.")
    }

    private func confirm(
        _ heading: String, _ body: String, _ action: String, _ act: @escaping @MainActor (TimelineViewModel) -> Void
    ) {
        guard let root = gtk_widget_get_root(widget.cast()) else { return }
        Confirmation.present(
            over: Widget(borrowing: UnsafeMutableRawPointer(root)), heading: heading, body: body, action: action
        ) { [weak model = conversation.timeline] in model.map(act) }
    }

    func openCalendar() { timeline.openCalendar(at: header) }

    // MARK: Keys and touch across timeline and composer

    /// Type-ahead: focuses the composer and forwards the controller's current key event to it.
    /// - Returns: `false` if the user can't write here.
    func type(_ controller: Object) -> Bool {
        guard composer.widget.isVisible else { return false }
        composer.grabFocus()
        shim_forward_key(controller.pointer, composer.textView.pointer)
        return true
    }

    /// Handles Ctrl+C for the timeline's selection, since selecting with the mouse leaves the focus in the composer
    /// (SLK-48).
    private func addCopying() {
        let keys = Object(owning: UnsafeMutableRawPointer(gtk_event_controller_key_new()))
        gtk_event_controller_set_propagation_phase(keys.cast(), GTK_PHASE_CAPTURE)
        keys.intercept("key-pressed") { [weak self] arguments in
            guard let self, arguments.flags(2) & GDK_CONTROL_MASK.rawValue != 0 else { return false }
            let key = Int32(bitPattern: arguments.uint(0))
            guard key == GDK_KEY_c || key == GDK_KEY_C,
                self.conversation.composer.state.composer.selection.isEmpty
            else { return false }
            if self.conversation.timeline.state.selectedCount > 0 {
                self.timeline.copySelectedMessages()
                return true
            }
            return self.timeline.copySelection()
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
