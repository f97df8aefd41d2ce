import CGtk
import ChatCore
import ChatViewModels
import GtkKit
import MediaGtk

/// A group of room events summarized in one line; a click or Return expands it to one line per event.
final class EventRow: TimelineRow {
    let widget: Widget
    private let button = Button()
    private let text = Label()
    private let arrow = Image(icon: "pan-down-symbolic")
    private let lines = Label()
    private let openRoom = Button()
    private let readReceipts: ReadReceiptsView
    private var group: EventGroup?
    private(set) var accessibleText = ""
    /// Whether screen readers are told that the row is expanded; `nil` if there is nothing to expand.
    private(set) var accessiblyExpanded: Bool?

    /// - Parameter toggle: Expands or collapses the group with the given ID.
    init(avatarLoader: AvatarLoader? = nil, toggle: @escaping @MainActor (MessageID) -> Void) {
        readReceipts = ReadReceiptsView(avatarLoader: avatarLoader)
        let column = Box(.vertical, role: GTK_ACCESSIBLE_ROLE_LIST_ITEM)
        widget = column
        widget.isFocusable = true
        widget.addStyle("event-row")
        text.setEllipsize(.end)
        lines.wrap = true
        lines.setWrapMode(.wordOrCharacter)
        lines.setJustify(.center)
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
        openRoom.halign = .center
        openRoom.addStyle("pill")
        column.append(openRoom)
        openRoom.onClick { [weak self] in
            guard let self, let address = group?.address else { return }
            widget.activateAction("win.open-address", address)
        }
        readReceipts.attach(to: overlay, in: widget)
        button.onClick { [weak self] in
            if let group = self?.group, group.canExpand { toggle(group.id) }
        }
    }

    func show(_ item: TimelineItem, selected: Range<Int>?) {
        guard case .events(let group) = item else { return }
        self.group = group
        let texts = MessageText.localized.events(group)
        text.text = texts.title
        arrow.isVisible = group.canExpand
        arrow.iconName = group.isExpanded ? "pan-up-symbolic" : "pan-down-symbolic"
        button.canTarget = group.canExpand
        widget.tooltip = texts.tooltip
        readReceipts.show(group.readers)
        openRoom.isVisible = texts.openRoom != nil
        if let label = texts.openRoom { openRoom.label = label }
        lines.isVisible = !texts.lines.isEmpty
        lines.text = texts.lines
        accessibleText = texts.accessibleText
        widget.setAccessibleLabel(accessibleText)
        accessiblyExpanded = group.canExpand ? group.isExpanded : nil
        widget.setAccessiblyExpanded(accessiblyExpanded)
    }
}
