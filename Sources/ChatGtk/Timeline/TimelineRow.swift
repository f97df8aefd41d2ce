import CGtk
import ChatCore
import ChatViewModels
import Foundation
import GtkKit
import TimelineGtk

/// A timeline row of any kind.
@MainActor
protocol TimelineRow: TimelineListRow {
    /// Binds the row to another item of its kind.
    func show(_ item: TimelineItem, selected: Range<Int>?)
}

/// The recycling pools: a row is reused only for items of its kind.
enum TimelineRowKind: Int {
    case message, ownMessage, day, unreadLine, more, events

    init(_ item: TimelineItem) {
        switch item {
        case .message(let message): self = message.isOwn ? .ownMessage : .message
        case .day: self = .day
        case .unreadLine: self = .unreadLine
        case .more: self = .more
        case .events: self = .events
        }
    }
}

/// A day divider.
final class DayRow: TimelineRow {
    let widget: Widget
    private let button = Button(sinking: gtk_button_new())
    private var date: Date?

    /// - Parameter openCalendar: Opens the day picker at a widget, starting at a date.
    init(openCalendar: @escaping @MainActor (Widget, Date?) -> Void) {
        widget = Box(.horizontal)
        widget.addStyle("day-divider")
        button.addStyle("flat")
        gtk_widget_set_hexpand(button.cast(), 1)
        gtk_widget_set_halign(button.cast(), GTK_ALIGN_CENTER)
        gtk_widget_set_focusable(button.cast(), 0)
        button.tooltip = translated("Jump to Another Day")
        gtk_box_append(widget.cast(), button.cast())
        button.onClick { [weak self] in
            guard let self else { return }
            openCalendar(self.button, self.date)
        }
    }

    func show(_ item: TimelineItem, selected: Range<Int>?) {
        guard case .day(_, let date, let day) = item else { return }
        self.date = date
        let text = DateText.day(date, day)
        button.label = text
        widget.setAccessibleLabel(text)
    }
}

/// The divider above unread messages.
final class UnreadLineRow: TimelineRow {
    let widget: Widget

    init() {
        let box = Box(.horizontal, spacing: 12)
        widget = box
        box.addStyle("unread-line")
        box.append(Self.rule())
        box.append(Label(translated("New")))
        box.append(Self.rule())
        box.setAccessibleLabel(translated("New messages"))
    }

    func show(_ item: TimelineItem, selected: Range<Int>?) {}

    private static func rule() -> Widget {
        let rule = Widget(sinking: gtk_separator_new(GTK_ORIENTATION_HORIZONTAL))
        gtk_widget_set_hexpand(rule.cast(), 1)
        gtk_widget_set_valign(rule.cast(), GTK_ALIGN_CENTER)
        return rule
    }
}

/// A placeholder for messages that are loading. Not animated, which would cause repaints even while it is out of view.
final class MoreRow: TimelineRow {
    let widget: Widget

    init() {
        let box = Box(.vertical, spacing: 6)
        widget = box
        box.addStyle("more-messages")
        box.setAccessibleLabel(translated("Loading…"))
        for width: Int32 in [220, 340, 160] {
            let bubble = Box(.horizontal)
            bubble.addStyle("message-placeholder")
            gtk_widget_set_size_request(bubble.cast(), width, 34)
            gtk_widget_set_halign(bubble.cast(), GTK_ALIGN_START)
            box.append(bubble)
        }
    }

    func show(_ item: TimelineItem, selected: Range<Int>?) {}
}
