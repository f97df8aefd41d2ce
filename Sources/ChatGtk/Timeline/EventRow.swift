import CGtk
import ChatCore
import ChatViewModels
import GtkKit
import MediaGtk

/// A group of room events summarized in one line, which a click or Return expands to one line each.
final class EventRow: TimelineRow {
    let widget: Widget
    private let button = Button()
    private let text = Label()
    private let arrow = Image(icon: "pan-down-symbolic")
    private let lines = Label()
    private let other = Button()
    private let readReceipts: ReadReceiptsView
    private var group: EventGroup?
    /// The accessible label.
    private(set) var accessibleText = ""

    /// - Parameter toggle: Expands or collapses the group with the given ID.
    init(avatarLoader: AvatarLoader? = nil, toggle: @escaping @MainActor (MessageID) -> Void) {
        readReceipts = ReadReceiptsView(avatarLoader: avatarLoader)
        let column = Box(.vertical, role: GTK_ACCESSIBLE_ROLE_LIST_ITEM)
        widget = column
        widget.isFocusable = true
        widget.addStyle("event-row")
        for label in [text, lines] {
            label.wrap = true
            label.setWrapMode(.wordOrCharacter)
            label.setJustify(.center)
        }
        let content = Box(.horizontal, spacing: 3)
        content.append(text)
        content.append(arrow)
        button.addStyle("flat")
        button.halign = .center
        button.isFocusable = false
        button.setChild(content)
        lines.addStyle("event-lines")
        let overlay = Overlay()
        overlay.setChild(button)
        column.append(overlay)
        column.append(lines)
        other.halign = .center
        other.addStyle("pill")
        column.append(other)
        other.onClick { [weak self] in
            guard let self, let address = group?.address else { return }
            widget.activateAction("win.open-address", address)
        }
        readReceipts.attach(beside: overlay, in: widget, atEnd: true)
        button.onClick { [weak self] in
            if let group = self?.group, group.canExpand { toggle(group.id) }
        }
    }

    func show(_ item: TimelineItem, selected: Range<Int>?) {
        guard case .events(let group) = item else { return }
        self.group = group
        text.text = MessageText.localized.summary(group)
        arrow.isVisible = group.canExpand
        arrow.iconName = group.isExpanded ? "pan-up-symbolic" : "pan-down-symbolic"
        button.canTarget = group.canExpand
        widget.tooltip = group.lines.count == 1 ? DateText.time(group.lines[0].sentAt) : nil
        readReceipts.show(group.readers)
        other.isVisible = group.address != nil
        other.label = group.isReplaced ? translated("Go to New Room") : translated("Go to Earlier Room")
        lines.isVisible = group.isExpanded && group.canExpand
        lines.text = lines.isVisible ? MessageText.localized.lines(group) : ""
        accessibleText = MessageText.localized.accessibleText(group)
        widget.setAccessibleLabel(accessibleText)
        if group.canExpand { widget.setAccessiblyExpanded(group.isExpanded) }
    }
}
