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
    private let button = Button()
    private var date: Date?

    /// - Parameter openCalendar: Opens the day picker at a widget, starting at a date.
    init(openCalendar: @escaping @MainActor (Widget, Date?) -> Void) {
        let box = Box(.horizontal)
        widget = box
        box.addStyle("day-divider")
        button.addStyle("flat")
        button.hexpand = true
        button.halign = .center
        button.isFocusable = false
        button.tooltip = translated("Jump to Date")
        box.append(button)
        button.onClick { [weak self] in
            guard let self else { return }
            openCalendar(self.button, self.date)
        }
    }

    func show(_ item: TimelineItem, selected: Range<Int>?) {
        guard case .day(_, let date, let day) = item else { return }
        self.date = date
        let text = DateText.desktop.day(date, day)
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
        box.append(Label(translated("New Messages")))
        box.append(Self.rule())
        box.setAccessibleLabel(translated("New Messages"))
    }

    func show(_ item: TimelineItem, selected: Range<Int>?) {}

    private static func rule() -> Widget {
        let rule = Separator(.horizontal)
        rule.hexpand = true
        rule.valign = .center
        return rule
    }
}

/// A placeholder for messages that are loading. It is not animated, since that would cause repaints even while it
/// is out of view.
final class MoreRow: TimelineRow {
    let widget: Widget

    init() {
        let box = Box(.vertical, spacing: 6)
        widget = box
        box.addStyle("more-messages")
        box.setAccessibleLabel(translated("Loading…"))
        for width in [220, 340, 160] {
            let bubble = Box(.horizontal)
            bubble.addStyle("message-placeholder")
            bubble.setSizeRequest(width: width, height: 34)
            bubble.halign = .start
            box.append(bubble)
        }
    }

    func show(_ item: TimelineItem, selected: Range<Int>?) {}
}
