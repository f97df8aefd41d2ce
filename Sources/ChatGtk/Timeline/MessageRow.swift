import CGtk
import ChatCore
import ChatViewModels
import GtkKit
import MediaGtk

/// A message: its bubble with the time, the sender at the start of a group, and buttons on hover.
final class MessageRow: TimelineRow {
    /// What the user asks for in a row.
    struct Outputs {
        var menuRequested: (MessageRow) -> Void
        var reactionsRequested: (MessageRow) -> Void
        var actionRequested: (MessageAction, MessageID) -> Void
        var jumpRequested: (MessageID) -> Void
        /// A link was activated in this widget.
        var linkActivated: (BodyLink, Widget) -> Void
        /// The full text of a message that is shortened in its row.
        var fullTextRequested: (MessageItem) -> Void
        var sealHelp: (SealReason) -> SealHelp? = { _ in nil }
        /// What would make a message readable was asked for.
        var helpRequested: (SealHelp) -> Void = { _ in }
    }

    var widget: Widget { box }
    private let box: Box
    private let isOwn: Bool
    /// `nil` for the user's own messages.
    private let header: MessageHeader?
    private let quote = MessageQuote()
    private let body = MessageBodyView()
    private let shortened = Button(label: translated("Show Full Message"))
    /// Created on demand, since few messages are sealed.
    private var help: SealHelpButton?
    private let bubble = Box(.vertical, spacing: 4)
    /// Around the bubble.
    private let overlay: Overlay
    /// Created on demand: messages of others have one only if they are edited.
    private var footer: MessageFooter?
    private let buttons: MessageButtons
    let reactions: ReactionsView
    let readReceipts: ReadReceiptsView
    /// Created on demand, since few rows need them.
    private(set) var failedMessageBar: FailedMessageBar?
    private(set) var upload: UploadProgressBar?
    private let column = Box(.vertical, spacing: 3)
    private let outputs: Outputs
    private let avatar: AvatarView?
    private let avatarLoader: AvatarLoader
    private let files: AttachmentView
    let preview: LinkPreviewCard
    private(set) var item: MessageItem?
    private(set) var accessibleText = ""

    /// - Parameter linkPreviews: Returns `nil` while link previews are disabled or unavailable.
    init(
        isOwn: Bool, media: MediaPresenter, linkPreviews: @escaping () -> LinkPreviews? = { nil },
        outputs: Outputs
    ) {
        self.isOwn = isOwn
        avatarLoader = media.avatars
        readReceipts = ReadReceiptsView(avatarLoader: media.avatars)
        files = AttachmentView(media: media)
        preview = LinkPreviewCard(media: media, linkPreviews: linkPreviews)
        buttons = MessageButtons(isOwn: isOwn)
        reactions = ReactionsView(isOwn: isOwn)
        self.outputs = outputs
        box = Box(.horizontal, spacing: 6, role: GTK_ACCESSIBLE_ROLE_LIST_ITEM)
        avatar = isOwn ? nil : AvatarView(size: 30)
        header = isOwn ? nil : MessageHeader(inset: Self.avatarInset + Self.bubblePadding)
        overlay = buttons.around(bubble, in: box)
        build()
        connect()
    }

    private func connect() {
        buttons.menu.onClick { [weak self] in self.map { $0.outputs.menuRequested($0) } }
        buttons.reply.onClick { [weak self] in self?.perform(.reply) }
        buttons.react.onClick { [weak self] in self.map { $0.outputs.reactionsRequested($0) } }
        shortened.onClick { [weak self] in
            if let self, let item = self.item { self.outputs.fullTextRequested(item) }
        }
        reactions.onToggle = { [weak self] in self?.perform(.react($0)) }
        quote.onClick = { [weak self] in self?.outputs.jumpRequested($0) }
        preview.onOpen = { [weak self] in self?.open($0) }
        preview.onAppear = { [weak self] in self?.placeFooter() }
        body.onLink = { [weak self] in self?.open($0) }
    }

    private func perform(_ action: MessageAction) {
        if let item { outputs.actionRequested(action, item.id) }
    }

    private func open(_ link: BodyLink) { outputs.linkActivated(link, widget) }

    /// The width of the avatar and of the space after it.
    private static let avatarInset = 30 + 6
    /// Horizontal: see `.message-bubble` in the style sheet.
    private static let bubblePadding = 12

    /// The widget that the message menu points to when opened by its button.
    var menuAnchor: Widget { buttons.menu }
    var reactionAnchor: Widget { buttons.react }

    func show(_ item: TimelineItem, selected: Range<Int>?) {
        guard case .message(let message) = item else { return }
        self.item = message
        let texts = MessageText.localized
        header?.show(message.senderName, time: texts.headerTime(message))
        quote.show(message.quote)
        files.show(message.attachments)
        let placeholder = texts.placeholder(message)
        let displayedBody = placeholder.map { MessageBody(plain: $0) } ?? message.body
        body.show(displayedBody, sender: message.senderName)
        body.select(selected)
        body.widget.isVisible = placeholder != nil || !message.text.isEmpty
        preview.show(placeholder == nil ? message.body.previewedLink : nil)
        shortened.isVisible = message.isShortened && !message.isDeleted
        showHelp(message.isSealed ? message.seal.flatMap(outputs.sealHelp) : nil)
        reactions.show(message.reactions)
        // The receipts are placed by the reactions, which are outside of the overlay.
        overlay.queueAllocate()
        showDelivery(message)
        readReceipts.show(message.readers)
        showFooter(texts.caption(message), isEdited: message.isEdited, trust: message.visibleTrust)
        overlay.tooltip = texts.tooltip(message)
        buttons.show(message)
        if let avatar {
            avatar.show(message.senderName, message.senderAvatar, from: avatarLoader)
            avatar.widget.opacity = message.endsGroup ? 1 : 0
        }
        widget.setStyle("starts-group", message.startsGroup)
        widget.setStyle("ends-group", message.endsGroup)
        widget.setStyle("deleted", message.isDeleted)
        widget.setStyle("sealed", message.isSealed && !message.isDeleted)
        widget.setStyle("editing", message.isBeingEdited)
        widget.setStyle("marked", message.isSelected)
        widget.setAccessiblySelected(message.isSelected)
        accessibleText = texts.accessibleText(message)
        widget.setAccessibleLabel(accessibleText)
    }

    private func showHelp(_ help: SealHelp?) {
        if help != nil, self.help == nil {
            let button = SealHelpButton { [weak self] in self?.outputs.helpRequested($0) }
            bubble.insert(button.widget, after: body.widget)
            self.help = button
        }
        self.help?.show(help)
    }

    private func showFooter(_ caption: String, isEdited: Bool, trust: MessageTrust?) {
        if footer == nil, isEdited || trust != nil || !caption.isEmpty {
            footer = MessageFooter()
            footer?.attach(to: overlay)
        }
        footer?.show(caption, isEdited: isEdited, trust: trust)
        placeFooter()
    }

    /// Puts the footer beside the last line of the text, or else below what the bubble ends with.
    private func placeFooter() {
        let shown = footer.flatMap { $0.widget.isVisible ? $0.widget : nil }
        let endsWithBody =
            body.widget.isVisible && !shortened.isVisible && !preview.widget.isVisible
            && help?.widget.isVisible != true
        let isBeside = body.keepCornerClear(of: endsWithBody ? shown.map { shown in { shown.preferredSize } } : nil)
        bubble.setStyle("has-footer", shown != nil && !(endsWithBody && isBeside))
    }

    private func showDelivery(_ message: MessageItem) {
        if message.rejectedItem != nil, failedMessageBar == nil { failedMessageBar = makeFailedMessageBar() }
        failedMessageBar?.show(message.rejectedItem)
        if message.upload != nil, upload == nil { upload = makeUploadProgressBar() }
        upload?.show(message.upload)
    }

    private func makeFailedMessageBar() -> FailedMessageBar {
        let bar = FailedMessageBar(isOwn: isOwn)
        bar.onRetry = { [weak self] in self?.perform(.retry) }
        bar.onDiscard = { [weak self] in self?.perform(.requestDiscard) }
        bar.widget.marginStart = isOwn ? 0 : Self.avatarInset + Self.bubblePadding
        column.insert(bar.widget, after: reactions.widget)
        return bar
    }

    private func makeUploadProgressBar() -> UploadProgressBar {
        let bar = UploadProgressBar()
        bar.onCancel = { [weak self] in self?.perform(.requestDiscard) }
        column.insert(bar.widget, after: reactions.widget)
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
        buttons.emphasizeReply(progress)
    }

    /// Returns the text offset in UTF-8 bytes nearest to a point in `other`'s coordinates.
    func offset(atX x: Double, y: Double, in other: Widget) -> Int {
        min(body.offset(atX: x, y: y, in: other), item?.selectableText.utf8.count ?? 0)
    }

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
        column.hexpand = true
        column.halign = isOwn ? .end : .start
        if let header { column.append(header.widget) }
        reactions.widget.marginStart = isOwn ? 0 : Self.avatarInset
        column.append(bubbleLine())
        column.append(reactions.widget)
        box.append(column)
    }

    private func bubbleLine() -> Widget {
        let line = Box(.horizontal, spacing: 6)
        line.halign = isOwn ? .end : .start
        bubble.addStyle("message-bubble")
        shortened.addStyle("flat")
        shortened.halign = .start
        bubble.append(quote.widget)
        bubble.append(files.widget)
        bubble.append(body.widget)
        bubble.append(shortened)
        bubble.append(preview.widget)
        if let avatar {
            avatar.widget.valign = .end
            line.append(avatar.widget)
        }
        readReceipts.attach(to: overlay, in: widget, below: column, beside: reactions)
        line.append(overlay)
        // A minimum margin on the opposite side distinguishes the user's own messages from others' even in a narrow
        // window.
        if isOwn { line.marginStart = 36 } else { line.marginEnd = 36 }
        return line
    }
}
