import ChatViewModels
import GtkKit
import MediaGtk

/// The read receipts of a message: small avatars under it at the row's trailing edge, in an overlay so that changes do
/// not affect the layout.
final class ReadReceiptsView {
    private static let avatarSize = 18
    /// How much of the content's padding they cover, in pixels: the rest is in the space between two groups.
    private static let overlap = 7
    /// Between them and the reactions, in pixels.
    private static let spacing = 6

    let widget = Box(.horizontal)
    private var avatars: [AvatarView] = []
    private let avatarLoader: AvatarLoader?
    private let more = Label()
    /// The accessible label; empty without readers.
    private(set) var accessibleText = ""

    init(avatarLoader: AvatarLoader?) {
        self.avatarLoader = avatarLoader
        widget.addStyle("read-receipts")
        widget.isVisible = false
    }

    func show(_ readers: [MessageItem.Reader]) {
        widget.isVisible = !readers.isEmpty
        guard !readers.isEmpty else {
            accessibleText = ""
            return
        }
        let receipts = ReadReceipts(readers)
        let visible = receipts.visible
        while avatars.count < visible.count {
            let avatar = AvatarView(size: Self.avatarSize)
            widget.append(avatar.widget)
            avatars.append(avatar)
        }
        for (index, avatar) in avatars.enumerated() {
            avatar.widget.isVisible = index < visible.count
            if index < visible.count { avatar.show(visible[index].name, visible[index].avatar, from: avatarLoader) }
        }
        if let label = receipts.moreLabel {
            if more.parent != nil { widget.remove(more) }
            widget.append(more)
            more.text = label
        }
        more.isVisible = receipts.moreLabel != nil
        accessibleText = MessageText.localized.readBy(readers)
        widget.setAccessibleLabel(accessibleText)
        widget.tooltip = MessageText.localized.tooltip(readers)
    }

    // MARK: Positioning

    /// - Parameters:
    ///   - overlay: An overlay in the row.
    ///   - row: The row, at whose trailing edge the receipts are.
    ///   - content: The widget whose lower edge they are on. By default, the overlay.
    ///   - reactions: Returns the last part of `content` while it is visible; the receipts are beside its last line.
    func attach(
        to overlay: Overlay, in row: Widget, below content: Widget? = nil,
        beside reactions: @escaping () -> ReactionsView? = { nil }
    ) {
        overlay.addOverlay(widget) { [weak self, weak row, weak content] overlay in
            guard let self, let row else { return nil }
            return self.frame(in: overlay, row, below: content, beside: reactions())
        }
    }

    private func frame(
        in overlay: Overlay, _ row: Widget, below content: Widget?, beside reactions: ReactionsView?
    ) -> Allocation {
        let size = widget.preferredSize
        let start = Int(overlay.translate(x: 0, y: 0, to: row)?.x ?? 0)
        let x = row.isRightToLeft ? -start : row.width - start - size.width
        guard let content, let bottom = content.translate(x: 0, y: Double(content.height), to: overlay)?.y else {
            return Allocation(x: x, y: overlay.height - size.height, width: size.width, height: size.height)
        }
        guard let reactions, reactions.widget.isVisible, let lastLine = reactions.lastLine?.preferredSize else {
            return Allocation(x: x, y: Int(bottom) - Self.overlap, width: size.width, height: size.height)
        }
        // The line is allocated after the overlay: its position depends on its size. In the user's own messages it is at
        // the trailing edge.
        let advance = reactions.isOwn ? lastLine.width + Self.spacing : 0
        return Allocation(
            x: row.isRightToLeft ? x + advance : x - advance, y: Int(bottom) - (lastLine.height + size.height) / 2,
            width: size.width, height: size.height)
    }
}
