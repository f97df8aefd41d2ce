import CGtk
import ChatViewModels
import Foundation
import GtkKit

/// Who has read up to a message: small avatars over one another, beside its bubble. They take no room of their own, so
/// that nothing moves when somebody reads on.
final class ReaderStrip {
    /// Beyond these a number stands for the rest.
    static let mostAvatars = 5
    private static let avatarSize: Int32 = 16
    private static let gap: Int32 = 6

    let widget = Box(.horizontal)
    private var avatars: [AvatarView] = []
    private let pictures: AvatarPictures?
    private let more = Label()
    /// What assistive technology reads; empty without readers.
    private(set) var spoken = ""

    init(pictures: AvatarPictures?) {
        self.pictures = pictures
        widget.addStyle("reader-strip")
        widget.isVisible = false
    }

    func show(_ readers: [MessageItem.Reader]) {
        widget.isVisible = !readers.isEmpty
        guard !readers.isEmpty else {
            spoken = ""
            return
        }
        // With one more than fit, the number would stand for a single one.
        let shown = readers.count <= Self.mostAvatars ? readers.count : Self.mostAvatars - 1
        while avatars.count < shown {
            let avatar = AvatarView(size: Self.avatarSize)
            widget.append(avatar.widget)
            avatars.append(avatar)
        }
        for (place, avatar) in avatars.enumerated() {
            avatar.widget.isVisible = place < shown
            if place < shown { avatar.show(readers[place].name, readers[place].avatar, from: pictures) }
        }
        if shown < readers.count {
            if gtk_widget_get_parent(more.cast()) != nil { gtk_box_remove(widget.cast(), more.cast()) }
            widget.append(more)
            more.text = "+\(readers.count - shown)"
        }
        more.isVisible = shown < readers.count
        let names = EventText.names(readers.map { .named($0.name) })
        spoken = translated("Read by {names}").replacing("{names}", with: names)
        widget.setAccessibleLabel(spoken)
        widget.tooltip = Self.told(readers)
    }

    /// A line each, as far as a tooltip goes.
    private static func told(_ readers: [MessageItem.Reader]) -> String {
        let most = 20
        var lines = readers.prefix(most).map { "\($0.name) · \(DateText.time($0.readAt))" }
        let rest = readers.count - most
        if rest > 0 {
            lines.append(
                translated("{count} other", "{count} others", count: rest).replacing("{count}", with: "\(rest)"))
        }
        return ([translated("Read by")] + lines).joined(separator: "\n")
    }

    // MARK: Place

    /// - Parameters:
    ///   - overlay: around a bubble, at the lower edge of which they stand.
    ///   - row: whose end, or the bubble's start, they stand at.
    func place(beside overlay: Widget, in row: Widget, atEnd: Bool) {
        gtk_overlay_add_overlay(overlay.cast(), widget.cast())
        overlay.intercept("get-child-position") { [weak self, weak row] arguments in
            guard let self, let row, let overlay = arguments.emitter, let place = arguments.boxed(1),
                arguments.object(0) == self.widget.pointer
            else { return false }
            place.assumingMemoryBound(to: GdkRectangle.self).pointee = self.place(
                beside: Widget(borrowing: overlay), in: row, atEnd: atEnd)
            return true
        }
    }

    private func place(beside bubble: Widget, in row: Widget, atEnd: Bool) -> GdkRectangle {
        var (minimum, size) = (GtkRequisition(), GtkRequisition())
        gtk_widget_get_preferred_size(widget.cast(), &minimum, &size)
        var (left, top) = (0.0, 0.0)
        shim_translate(bubble.pointer, row.pointer, 0, 0, &left, &top)
        let bubbleWidth = Int32(gtk_widget_get_width(bubble.cast()))
        let rowWidth = Int32(gtk_widget_get_width(row.cast()))
        let isOnRight = atEnd == (gtk_widget_get_direction(row.cast()) != GTK_TEXT_DIR_RTL)
        let x: Int32
        if atEnd {
            // At the row's own edge, where all of them stand in one column.
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
