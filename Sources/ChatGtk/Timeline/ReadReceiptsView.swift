import CGtk
import ChatViewModels
import GtkKit
import MediaGtk

/// The read receipts of a message: small avatars beside its bubble, in an overlay so that changes do not affect the
/// layout.
final class ReadReceiptsView {
    /// With more readers, a count replaces the rest.
    static let maxAvatars = 5
    private static let avatarSize: Int32 = 16
    private static let gap: Int32 = 6

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
            if gtk_widget_get_parent(more.cast()) != nil { gtk_box_remove(widget.cast(), more.cast()) }
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
    func attach(beside overlay: Widget, in row: Widget, atEnd: Bool) {
        gtk_overlay_add_overlay(overlay.cast(), widget.cast())
        overlay.intercept("get-child-position") { [weak self, weak row] arguments in
            guard let self, let row, let overlay = arguments.emitter, let allocation = arguments.boxed(1),
                arguments.object(0) == self.widget.pointer
            else { return false }
            allocation.assumingMemoryBound(to: GdkRectangle.self).pointee = self.frame(
                beside: Widget(borrowing: overlay), in: row, atEnd: atEnd)
            return true
        }
    }

    private func frame(beside bubble: Widget, in row: Widget, atEnd: Bool) -> GdkRectangle {
        var (minimum, size) = (GtkRequisition(), GtkRequisition())
        gtk_widget_get_preferred_size(widget.cast(), &minimum, &size)
        var (left, top) = (0.0, 0.0)
        shim_translate(bubble.pointer, row.pointer, 0, 0, &left, &top)
        let bubbleWidth = Int32(gtk_widget_get_width(bubble.cast()))
        let rowWidth = Int32(gtk_widget_get_width(row.cast()))
        let isOnRight = atEnd == (gtk_widget_get_direction(row.cast()) != GTK_TEXT_DIR_RTL)
        let x: Int32
        if atEnd {
            // At the row's edge, so that all receipts form a column.
            x = isOnRight ? rowWidth - Int32(left) - size.width : -Int32(left)
        } else {
            let room = isOnRight ? rowWidth - Int32(left) - bubbleWidth : Int32(left)
            let distance = min(room, size.width + Self.gap)
            x = isOnRight ? bubbleWidth + distance - size.width : -distance
        }
        return GdkRectangle(
            x: x, y: Int32(gtk_widget_get_height(bubble.cast())) - size.height, width: size.width, height: size.height)
    }
}
