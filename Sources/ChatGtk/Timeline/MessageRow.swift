import CGtk
import ChatCore
import ChatViewModels
import GtkKit
import MediaGtk

/// A message: its bubble with the time, the sender at the start of a group, and buttons on hover.
final class MessageRow: TimelineRow {
    /// What the user requests in a row.
    struct Outputs {
        var menuRequested: (MessageRow) -> Void
        var reactionsRequested: (MessageRow) -> Void
        var actionRequested: (MessageAction, MessageID) -> Void
        var jumpRequested: (MessageID) -> Void
        /// The user activated a link in this widget.
        var linkActivated: (BodyLink, Widget) -> Void
        var mentionActivated: (ActivatedMention) -> Void
        /// The user requested the full text of a truncated message.
        var fullTextRequested: (MessageItem) -> Void
        var sealHelp: (SealReason) -> SealHelp? = { _ in nil }
        /// The user pressed the button below an unreadable message.
        var helpRequested: (SealHelp) -> Void = { _ in }
        /// The user has expanded or collapsed details in the row; the next layout changes its height.
        var detailsToggled: (MessageRow) -> Void = { _ in }
        var revealed = RevealedMessages()
    }

    var widget: Widget { box }
    /// The sender's name, the bubble, and what is below it.
    private let box: Box
    private let isOwn: Bool
    private let body = MessageBodyView()
    let bubble = Box(.vertical, spacing: 4)
    /// Around the bubble.
    private let overlay = Overlay()
    private let line = MessageLine()
    // Created on demand: each widget makes a row slower, and few rows need these.
    private var header: MessageHeader?
    private var avatar: AvatarView?
    private var quote: MessageQuote?
    private var files: AttachmentView?
    private var help: SealHelpButton?
    private var shortened: Button?
    private var madePreview: LinkPreviewCard?
    private var footer: MessageFooter?
    private var madeButtons: MessageButtons?
    private var makingButtons: Timeout?
    private var madeReactions: ReactionsView?
    private var madeReadReceipts: ReadReceiptsView?
    private(set) var failedMessageBar: FailedMessageBar?
    private(set) var upload: UploadProgressBar?
    private let outputs: Outputs
    private let media: MediaPresenter
    private let linkPreviews: () -> LinkPreviews?
    private(set) var item: MessageItem?
    private(set) var accessibleText = ""

    /// - Parameter linkPreviews: Returns `nil` while link previews are disabled or unavailable.
    init(
        isOwn: Bool, media: MediaPresenter, linkPreviews: @escaping () -> LinkPreviews? = { nil },
        outputs: Outputs
    ) {
        self.isOwn = isOwn
        self.media = media
        self.linkPreviews = linkPreviews
        self.outputs = outputs
        box = Box(.vertical, spacing: 3, role: GTK_ACCESSIBLE_ROLE_LIST_ITEM)
        build()
        body.onLink = { [weak self] in self?.open($0) }
        body.onMention = { [weak self] in self?.outputs.mentionActivated($0) }
        body.onDetailsToggle = { [weak self] in self.map { $0.outputs.detailsToggled($0) } }
        body.onReveal = { [weak self] parts, body in
            if let self, let item { self.outputs.revealed.set(parts, of: item, in: body) }
        }
    }

    private func perform(_ action: MessageAction) {
        if let item { outputs.actionRequested(action, item.id) }
    }

    private func open(_ link: BodyLink) { outputs.linkActivated(link, widget) }

    /// The width of the avatar and of the space after it.
    private static let avatarInset = MessageLine.avatarSize + MessageLine.avatarSpacing
    /// Horizontal: see `.message-bubble` in the style sheet.
    private static let bubblePadding = 12
    /// The space above the first message of a group.
    private static let groupSpacing = 11

    /// The widget that the message menu points to when opened by its button.
    var menuAnchor: Widget { anchor(\.menu) }
    var reactionAnchor: Widget { anchor(\.react) }

    /// Returns a button that is placed, or else the bubble.
    private func anchor(_ button: KeyPath<MessageButtons, Button>) -> Widget {
        madeButtons.map { $0[keyPath: button] }.flatMap { $0.width > 0 ? $0 : nil } ?? bubble
    }

    /// Creates the buttons that popovers point to, for a row that is touched and therefore neither hovered nor focused.
    func prepareAnchors() { _ = buttons }

    func show(_ item: TimelineItem, selected: Range<Int>?) {
        guard case .message(let message) = item else { return }
        self.item = message
        let texts = MessageText.localized
        showSender(message, time: texts.headerTime(message))
        showQuote(message.quote)
        showFiles(message)
        let placeholder = texts.placeholder(message)
        let displayedBody = placeholder.map { MessageBody(plain: $0) } ?? message.body
        body.show(displayedBody, sender: message.senderName)
        body.reveal(outputs.revealed.parts(of: message, in: displayedBody))
        body.select(selected)
        body.widget.isVisible = placeholder != nil || !message.text.isEmpty
        showPreview(of: placeholder == nil ? message.previewedLink : nil)
        showShortened(message.isShortened && !message.isDeleted)
        showHelp(message.isSealed ? message.seal.flatMap(outputs.sealHelp) : nil)
        if madeReactions != nil || !message.reactions.isEmpty { reactions.show(message.reactions) }
        // The receipts' position depends on the reactions, which are not in the overlay.
        overlay.queueAllocate()
        showDelivery(message)
        if madeReadReceipts != nil || !message.readers.isEmpty { readReceipts.show(message.readers) }
        showFooter(message, texts)
        overlay.tooltip = texts.tooltip(message)
        madeButtons?.show(message)
        showStyle(message)
        widget.setAccessiblySelected(message.isSelected)
        accessibleText = texts.accessibleText(message)
        widget.setAccessibleLabel(accessibleText)
    }

    /// Set the bubble's own classes on the bubble: classes on the row would make GTK restyle everything in it.
    private func showStyle(_ message: MessageItem) {
        bubble.setStyle("starts-group", message.startsGroup)
        bubble.setStyle("ends-group", message.endsGroup)
        bubble.setStyle("deleted", message.isDeleted)
        bubble.setStyle("sealed", message.isSealed && !message.isDeleted)
        widget.setStyle("editing", message.isBeingEdited)
        widget.setStyle("marked", message.isSelected)
    }

    private func showSender(_ message: MessageItem, time: String?) {
        if time != nil, header == nil, !isOwn {
            let header = MessageHeader(inset: Self.avatarInset + Self.bubblePadding)
            box.prepend(header.widget)
            self.header = header
        }
        header?.show(message.senderName, time: time)
        let spacing = message.startsGroup ? Self.groupSpacing : 0
        let isBelowHeader = header?.widget.isVisible == true
        header?.widget.marginTop = spacing
        line.marginTop = isBelowHeader ? 0 : spacing
        if message.endsGroup { showAvatar(message) }
        avatar?.widget.opacity = message.endsGroup ? 1 : 0
    }

    private func showAvatar(_ message: MessageItem) {
        guard !isOwn else { return }
        if avatar == nil {
            let avatar = AvatarView(size: MessageLine.avatarSize)
            line.setAvatar(avatar.widget)
            line.marginStart = 0
            self.avatar = avatar
        }
        avatar?.show(message.senderName, message.senderAvatar, from: media.avatars)
    }

    private func showQuote(_ quote: MessageItem.Quote?) {
        if quote != nil, self.quote == nil {
            let made = MessageQuote()
            made.onClick = { [weak self] in self?.outputs.jumpRequested($0) }
            bubble.prepend(made.widget)
            self.quote = made
        }
        self.quote?.show(quote)
    }

    private func showFiles(_ message: MessageItem) {
        if !message.attachments.isEmpty, files == nil {
            let made = AttachmentView(media: media)
            if let quote { bubble.insert(made.widget, after: quote.widget) } else { bubble.prepend(made.widget) }
            files = made
        }
        files?.show(message.attachments, of: message.lastingKey)
    }

    private func showPreview(of link: BodyLink?) {
        if madePreview != nil || link != nil && linkPreviews() != nil { preview.show(link) }
    }

    private func showShortened(_ isShortened: Bool) {
        if isShortened, shortened == nil {
            let button = Button(label: translated("Show Full Message"))
            button.addStyle("flat")
            button.halign = .start
            button.onClick { [weak self] in
                if let self, let item = self.item { self.outputs.fullTextRequested(item) }
            }
            bubble.insert(button, after: help?.widget ?? body.widget)
            shortened = button
        }
        shortened?.isVisible = isShortened
    }

    private func showHelp(_ help: SealHelp?) {
        if help != nil, self.help == nil {
            let button = SealHelpButton { [weak self] in self?.outputs.helpRequested($0) }
            bubble.insert(button.widget, after: body.widget)
            self.help = button
        }
        self.help?.show(help)
    }

    private func showFooter(_ message: MessageItem, _ texts: MessageText) {
        let (caption, unreadableEdit) = (texts.caption(message), texts.unreadableEdit(message))
        let isMarked = message.isEdited || unreadableEdit != nil || message.visibleTrust != nil
        if footer == nil, isMarked || !caption.isEmpty {
            footer = MessageFooter()
            footer?.attach(to: overlay)
        }
        footer?.show(
            caption, isEdited: message.isEdited, unreadableEdit: unreadableEdit, trust: message.visibleTrust)
        placeFooter()
    }

    /// Puts the footer beside the last line of the text, or else below what the bubble ends with.
    private func placeFooter() {
        let shown = footer.flatMap { $0.widget.isVisible ? $0.widget : nil }
        let endsWithBody =
            body.widget.isVisible && shortened?.isVisible != true && madePreview?.widget.isVisible != true
            && help?.widget.isVisible != true
        let isBeside = body.keepCornerClear(of: endsWithBody ? shown.map { shown in { shown.preferredSize } } : nil)
        bubble.setStyle("has-footer", shown != nil && !(endsWithBody && isBeside))
    }

    private func showDelivery(_ message: MessageItem) {
        if message.rejectedItem != nil, failedMessageBar == nil { failedMessageBar = makeFailedMessageBar() }
        failedMessageBar?.show(message.rejectedItem, because: message.shownFailure)
        if message.upload != nil, upload == nil { upload = makeUploadProgressBar() }
        upload?.show(message.upload)
    }

    private func makeFailedMessageBar() -> FailedMessageBar {
        let bar = FailedMessageBar(isOwn: isOwn)
        bar.onRetry = { [weak self] in self?.perform(.retry) }
        bar.onDiscard = { [weak self] in self?.perform(.requestDiscard) }
        bar.widget.marginStart = isOwn ? 0 : Self.avatarInset + Self.bubblePadding
        box.insert(bar.widget, after: madeReactions?.widget ?? line.widget)
        return bar
    }

    private func makeUploadProgressBar() -> UploadProgressBar {
        let bar = UploadProgressBar()
        bar.onCancel = { [weak self] in self?.perform(.requestDiscard) }
        box.insert(bar.widget, after: madeReactions?.widget ?? line.widget)
        return bar
    }

    /// Whether any of the text is selected.
    var isSelected: Bool { body.isSelected }

    func select(_ range: Range<Int>?) { body.select(range) }

    /// Highlights search matches, and the row if it holds the current match.
    func highlight(_ terms: SearchTerms, isCurrent: Bool) {
        body.highlight(item?.hasContent == true ? terms : SearchTerms(terms: []))
        widget.setStyle("current-match", isCurrent)
    }

    /// The text highlighted by ``highlight(_:isCurrent:)``.
    var highlightedText: String? { body.highlightedText }

    /// Highlights the row as the target of a jump.
    func setFound(_ isFound: Bool) { widget.setStyle("found", isFound) }

    /// Shows the progress of a swipe to reply, from 0 to 1.
    func showSwipe(_ progress: Double) {
        widget.setStyle("swiping", progress > 0)
        if progress > 0 || madeButtons != nil { buttons.emphasizeReply(progress) }
    }

    /// Returns the text offset in UTF-8 bytes nearest to a point in `other`'s coordinates.
    func offset(atX x: Double, y: Double, in other: Widget) -> Int {
        min(body.offset(atX: x, y: y, in: other), item?.selectableText.utf8.count ?? 0)
    }

    /// Returns the link of the text at a point in `other`'s coordinates, or `nil` if there is none.
    func link(atX x: Double, y: Double, in other: Widget) -> BodyLink? { body.link(atX: x, y: y, in: other) }

    /// Returns whether the bubble contains a point in `other`'s coordinates.
    func bubbleContains(x: Double, y: Double, of other: Widget) -> Bool {
        guard let bubble = body.widget.parent, let point = other.translate(x: x, y: y, to: bubble) else {
            return false
        }
        return bubble.contains(x: point.x, y: point.y)
    }

    // MARK: Building

    private func build() {
        widget.isFocusable = true
        widget.addStyle("message-row")
        widget.setStyle("own", isOwn)
        bubble.addStyle("message-bubble")
        bubble.append(body.widget)
        overlay.setChild(bubble)
        // A minimum margin on the opposite side distinguishes the user's own messages from others' even in a narrow
        // window.
        line.isOwn = isOwn
        line.setBubble(overlay)
        if isOwn {
            line.marginStart = 36
        } else {
            line.marginStart = Self.avatarInset
            line.marginEnd = 36
            line.setSizeRequest(height: MessageLine.avatarSize)
        }
        box.append(line.widget)
        widget.onStateFlagsChange { [weak self] _ in self?.stateChanged() }
    }

    /// Whether the pointer or the focus is in the row.
    private var isActive: Bool { !widget.stateFlags.isDisjoint(with: [.prelight, .focusWithin]) }

    /// How long the pointer is in the row before the buttons are shown. While the timeline is scrolled, rows pass below the
    /// pointer: the buttons of each would fade in and out, and GTK would style them anew for each frame of that.
    private static let restTime = Duration.milliseconds(80)

    private func stateChanged() {
        let flags = widget.stateFlags
        if !flags.contains(.prelight) { madeButtons?.isPointedAt = false }
        guard isActive else {
            makingButtons?.cancel()
            // Invisible buttons must not intercept clicks on the text below.
            madeButtons?.widget.canTarget = false
            return
        }
        guard makingButtons?.isPending != true else { return }
        let show: @MainActor @Sendable () -> Void = { [weak self] in self?.showButtons() }
        // Not now: the state may change during a layout, see `RowLayout.queue()`.
        makingButtons =
            flags.contains(.focusWithin) ? Timeout(whenIdle: show) : Timeout(after: Self.restTime, show)
    }

    private func showButtons() {
        guard isActive else { return }
        buttons.widget.canTarget = true
        buttons.isPointedAt = widget.stateFlags.contains(.prelight)
    }

    /// Created once the pointer rests in the row, or the focus enters it.
    private var buttons: MessageButtons {
        if let madeButtons { return madeButtons }
        let buttons = MessageButtons(isOwn: isOwn)
        madeButtons = buttons
        buttons.attach(to: overlay, over: bubble, in: widget)
        if let item { buttons.show(item) }
        buttons.menu.onClick { [weak self] in self.map { $0.outputs.menuRequested($0) } }
        buttons.reply.onClick { [weak self] in self?.perform(.reply) }
        buttons.react.onClick { [weak self] in self.map { $0.outputs.reactionsRequested($0) } }
        return buttons
    }

    var reactions: ReactionsView {
        if let madeReactions { return madeReactions }
        let reactions = ReactionsView(isOwn: isOwn)
        madeReactions = reactions
        reactions.widget.marginStart = isOwn ? 0 : Self.avatarInset
        reactions.onToggle = { [weak self] in self?.perform(.react($0)) }
        box.insert(reactions.widget, after: line.widget)
        return reactions
    }

    var readReceipts: ReadReceiptsView {
        if let madeReadReceipts { return madeReadReceipts }
        let receipts = ReadReceiptsView(avatarLoader: media.avatars)
        madeReadReceipts = receipts
        receipts.attach(to: overlay, in: widget, below: widget) { [weak self] in self?.madeReactions }
        // Below the footer, as what is added to an overlay later is above.
        receipts.widget.insert(into: overlay, after: madeButtons?.widget ?? bubble)
        return receipts
    }

    var preview: LinkPreviewCard {
        if let madePreview { return madePreview }
        let preview = LinkPreviewCard(media: media, linkPreviews: linkPreviews)
        madePreview = preview
        preview.onOpen = { [weak self] in self?.open($0) }
        preview.onAppear = { [weak self] in self?.placeFooter() }
        bubble.append(preview.widget)
        return preview
    }
}
