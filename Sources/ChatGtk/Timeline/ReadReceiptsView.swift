import ChatViewModels
import GtkKit
import MediaGtk

/// The read receipts of a message: small avatars beside its bubble, in an overlay so that changes do not affect the
/// layout.
final class ReadReceiptsView {
    /// With more readers, a count replaces the rest.
    static let maxAvatars = 5
    private static let avatarSize = 16
    private static let gap = 6

    let widget = Box(.horizontal)
    private var avatars: [AvatarView] = []
    private let avatarLoader: AvatarLoader?
    private let more = Label()
    /// The accessible label; empty without readers.
    private(set) var accessibleText = ""

    init(avatarLoader: AvatarLoader?) {
        self.avatarLoader = avatarLoader
        widget.addStyle("reader-strip")
        widget.isVisible = false
    }

    func show(_ readers: [MessageItem.Reader]) {
        widget.isVisible = !readers.isEmpty
        guard !readers.isEmpty else {
            accessibleText = ""
            return
        }
        // A count of 1 would take the space of the avatar that it replaces.
        let visibleCount = readers.count <= Self.maxAvatars ? readers.count : Self.maxAvatars - 1
        while avatars.count < visibleCount {
            let avatar = AvatarView(size: Self.avatarSize)
            widget.append(avatar.widget)
            avatars.append(avatar)
        }
        for (index, avatar) in avatars.enumerated() {
            avatar.widget.isVisible = index < visibleCount
            if index < visibleCount { avatar.show(readers[index].name, readers[index].avatar, from: avatarLoader) }
        }
        if visibleCount < readers.count {
            if more.parent != nil { widget.remove(more) }
            widget.append(more)
            more.text = "+\(readers.count - visibleCount)"
        }
        more.isVisible = visibleCount < readers.count
        accessibleText = MessageText.localized.readBy(readers)
        widget.setAccessibleLabel(accessibleText)
        widget.tooltip = MessageText.localized.tooltip(readers)
    }

    // MARK: Positioning

    /// - Parameters:
    ///   - overlay: The overlay around a bubble, whose lower edge the avatars are aligned to.
    ///   - row: The message's row.
    ///   - atEnd: Whether to align the avatars to the end of the row rather than the start of the bubble.
    func attach(beside overlay: Overlay, in row: Widget, atEnd: Bool) {
        overlay.addOverlay(widget) { [weak self, weak row] overlay in
            guard let self, let row else { return nil }
            return self.frame(beside: overlay, in: row, atEnd: atEnd)
        }
    }

    private func frame(beside bubble: Widget, in row: Widget, atEnd: Bool) -> Allocation {
        let size = widget.preferredSize
        let left = Int(bubble.translate(x: 0, y: 0, to: row)?.x ?? 0)
        let (bubbleWidth, rowWidth) = (bubble.width, row.width)
        let isOnRight = atEnd != row.isRightToLeft
        let x: Int
        if atEnd {
            // At the row's edge, so that all receipts form a column.
            x = isOnRight ? rowWidth - left - size.width : -left
        } else {
            let room = isOnRight ? rowWidth - left - bubbleWidth : left
            let distance = min(room, size.width + Self.gap)
            x = isOnRight ? bubbleWidth + distance - size.width : -distance
        }
        return Allocation(x: x, y: bubble.height - size.height, width: size.width, height: size.height)
    }
}
