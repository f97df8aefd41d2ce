import CGtk
import ChatCore
import ChatViewModels
import GtkKit

/// A row of the timeline, of whatever kind.
@MainActor
protocol TimelineRow: AnyObject {
    var widget: Widget { get }
    func show(_ item: TimelineItem)
}

/// One message: a bubble, who and when at the ends of a group, a menu button on hover.
final class MessageRow: TimelineRow {
    /// Characters after which a bubble's text wraps at the latest.
    private static let lineLength: Int32 = 62

    let widget: Widget
    private let isOwn: Bool
    private let sender = Label()
    private let text = Label()
    private let meta = Label()
    private let hoverTime = Label()
    private let menuButton = Button(borrowing: gtk_button_new_from_icon_name("view-more-symbolic"))
    private let avatar: Widget?
    private(set) var item: MessageItem

    /// - Parameter openMenu: shows the message's menu at a widget.
    init(_ item: MessageItem, openMenu: @escaping @MainActor (MessageRow) -> Void) {
        self.item = item
        isOwn = item.isOwn
        widget = Widget(borrowing: shim_object_new_with_role(gtk_box_get_type(), GTK_ACCESSIBLE_ROLE_LIST_ITEM))
        avatar = item.isOwn ? nil : Widget(borrowing: adw_avatar_new(30, item.senderName, 1))
        build()
        menuButton.onClick { [weak self] in
            guard let self else { return }
            openMenu(self)
        }
        show(.message(item))
    }

    /// From the row's start to a bubble's text: avatar, gap, padding.
    private var textInset: Int32 { isOwn ? 12 : 30 + 6 + 12 }

    /// Where a menu opened by the button points.
    var menuAnchor: Widget { menuButton }

    func show(_ item: TimelineItem) {
        guard case .message(let message) = item else { return }
        self.item = message
        sender.text = message.senderName
        sender.isVisible = message.showsSender
        showText(message)
        let time = DateText.time(message.sentAt)
        meta.text = metaText(message, time)
        meta.isVisible = !meta.text.isEmpty
        hoverTime.text = message.endsGroup ? "" : time
        menuButton.isVisible = !message.isDeleted
        if let avatar { gtk_widget_set_opacity(avatar.cast(), message.endsGroup ? 1 : 0) }
        widget.setStyle("starts-group", message.startsGroup)
        widget.setStyle("ends-group", message.endsGroup)
        widget.setStyle("deleted", message.isDeleted)
        widget.setStyle("editing", message.isBeingEdited)
        widget.setAccessibleLabel(spoken(message, time))
    }

    // MARK: Building

    private func build() {
        gtk_orientable_set_orientation(widget.cast(), GTK_ORIENTATION_HORIZONTAL)
        gtk_box_set_spacing(widget.cast(), 6)
        gtk_widget_set_focusable(widget.cast(), 1)
        widget.addStyle("message-row")
        widget.setStyle("own", isOwn)
        let column = Box(.vertical, spacing: 3)
        gtk_widget_set_hexpand(column.cast(), 1)
        gtk_widget_set_halign(column.cast(), isOwn ? GTK_ALIGN_END : GTK_ALIGN_START)
        for label in [sender, meta] { gtk_label_set_xalign(label.cast(), isOwn ? 1 : 0) }
        sender.addStyle("message-sender")
        gtk_widget_set_margin_start(sender.cast(), textInset)
        gtk_label_set_ellipsize(sender.cast(), PANGO_ELLIPSIZE_END)
        meta.addStyle("message-meta")
        gtk_widget_set_margin_start(meta.cast(), textInset)
        gtk_widget_set_margin_end(meta.cast(), 12)
        column.append(sender)
        column.append(line())
        column.append(meta)
        gtk_box_append(widget.cast(), column.cast())
    }

    private func line() -> Widget {
        let line = Box(.horizontal, spacing: 6)
        gtk_widget_set_halign(line.cast(), isOwn ? GTK_ALIGN_END : GTK_ALIGN_START)
        let bubble = Box(.horizontal)
        bubble.addStyle("message-bubble")
        text.addStyle("message-text")
        gtk_label_set_wrap(text.cast(), 1)
        gtk_label_set_wrap_mode(text.cast(), PANGO_WRAP_WORD_CHAR)
        gtk_label_set_xalign(text.cast(), 0)
        gtk_label_set_max_width_chars(text.cast(), Self.lineLength)
        bubble.append(text)
        let hover = Box(.horizontal, spacing: 3)
        hover.addStyle("message-hover")
        gtk_widget_set_valign(hover.cast(), GTK_ALIGN_CENTER)
        hoverTime.addStyle("message-meta")
        for style in ["flat", "circular"] { menuButton.addStyle(style) }
        menuButton.tooltip = translated("Message Menu")
        menuButton.setAccessibleLabel(translated("Message Menu"))
        gtk_widget_set_focusable(menuButton.cast(), 0)
        let parts: [Widget] = isOwn ? [hoverTime, menuButton] : [menuButton, hoverTime]
        parts.forEach(hover.append)
        if let avatar {
            gtk_widget_set_valign(avatar.cast(), GTK_ALIGN_END)
            line.append(avatar)
        }
        let order: [Widget] = isOwn ? [hover, bubble] : [bubble, hover]
        order.forEach(line.append)
        return line
    }

    // MARK: Texts

    private func showText(_ message: MessageItem) {
        // A C string ends at a NUL.
        let shown = message.isDeleted ? translated("Message deleted") : shownText(message)
        guard shown != text.text else { return }
        text.text = shown
        // Without a width in characters the label's minimum width is found by wrapping at every character, which
        // costs milliseconds for long texts; with one, short texts would be as wide.
        let isLong = shown.utf8.count > 60
        gtk_label_set_width_chars(text.cast(), isLong ? 20 : -1)
    }

    private func shownText(_ message: MessageItem) -> String {
        let text = String(message.shownText).replacing("\0", with: "\u{FFFD}")
        return message.isShortened ? text + "…\n\n" + translated("(Copy the message to read all of it.)") : text
    }

    private func metaText(_ message: MessageItem, _ time: String) -> String {
        var parts: [String] = []
        if message.endsGroup { parts.append(time) }
        if message.isEdited { parts.append(translated("edited")) }
        switch message.delivery {
        case .sending: parts.append(translated("sending…"))
        case .failed: parts.append(translated("not sent"))
        case .sent: break
        }
        return parts.joined(separator: " · ")
    }

    /// One sentence for assistive technology.
    private func spoken(_ message: MessageItem, _ time: String) -> String {
        let sender = message.isOwn ? translated("You") : message.senderName
        let state = metaText(message, time)
        let what = message.isDeleted ? translated("Message deleted") : String(message.shownText)
        return state.contains(time) ? "\(sender): \(what). \(state)" : "\(sender): \(what). \(time) \(state)"
    }
}

/// A day, or the line above what was not read yet.
final class DividerRow: TimelineRow {
    let widget: Widget
    private let label = Label()

    init(_ item: TimelineItem) {
        let box = Box(.horizontal, spacing: 12)
        widget = box
        gtk_widget_set_hexpand(label.cast(), 1)
        if case .unreadLine = item {
            box.addStyle("unread-line")
            gtk_widget_set_hexpand(label.cast(), 0)
            box.append(rule())
            box.append(label)
            box.append(rule())
        } else {
            box.addStyle("day-divider")
            box.append(label)
        }
        show(item)
    }

    func show(_ item: TimelineItem) {
        switch item {
        case .day(_, let date, let day): label.text = DateText.day(date, day)
        case .unreadLine: label.text = translated("New")
        case .message, .more: break
        }
    }

    private func rule() -> Widget {
        let rule = Widget(borrowing: gtk_separator_new(GTK_ORIENTATION_HORIZONTAL))
        gtk_widget_set_hexpand(rule.cast(), 1)
        gtk_widget_set_valign(rule.cast(), GTK_ALIGN_CENTER)
        return rule
    }
}
