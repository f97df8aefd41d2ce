import CGtk
import ChatCore
import ChatViewModels
import GtkKit
import MediaGtk

/// A group of room events summarized in one line, which a click or Return expands to one line each.
final class EventRow: TimelineRow {
    let widget: Widget
    private let button = Button(sinking: gtk_button_new())
    private let text = Label()
    private let arrow = Widget(sinking: gtk_image_new_from_icon_name("pan-down-symbolic"))
    private let lines = Label()
    private let other = Button(sinking: gtk_button_new())
    private let readReceipts: ReadReceiptsView
    private var group: EventGroup?
    /// The accessible label.
    private(set) var accessibleText = ""

    /// - Parameter toggle: Expands or collapses the group with the given ID.
    init(avatarLoader: AvatarLoader? = nil, toggle: @escaping @MainActor (MessageID) -> Void) {
        readReceipts = ReadReceiptsView(avatarLoader: avatarLoader)
        widget = Widget(sinking: shim_object_new_with_role(gtk_box_get_type(), GTK_ACCESSIBLE_ROLE_LIST_ITEM))
        gtk_orientable_set_orientation(widget.cast(), GTK_ORIENTATION_VERTICAL)
        gtk_widget_set_focusable(widget.cast(), 1)
        widget.addStyle("event-row")
        for label in [text, lines] {
            gtk_label_set_wrap(label.cast(), 1)
            gtk_label_set_wrap_mode(label.cast(), PANGO_WRAP_WORD_CHAR)
            gtk_label_set_justify(label.cast(), GTK_JUSTIFY_CENTER)
        }
        let content = Box(.horizontal, spacing: 3)
        content.append(text)
        content.append(arrow)
        button.addStyle("flat")
        gtk_widget_set_halign(button.cast(), GTK_ALIGN_CENTER)
        gtk_widget_set_focusable(button.cast(), 0)
        gtk_button_set_child(button.cast(), content.cast())
        lines.addStyle("event-lines")
        let overlay = Widget(sinking: gtk_overlay_new())
        gtk_overlay_set_child(overlay.cast(), button.cast())
        gtk_box_append(widget.cast(), overlay.cast())
        gtk_box_append(widget.cast(), lines.cast())
        gtk_widget_set_halign(other.cast(), GTK_ALIGN_CENTER)
        other.addStyle("pill")
        gtk_box_append(widget.cast(), other.cast())
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
        gtk_image_set_from_icon_name(arrow.cast(), group.isExpanded ? "pan-up-symbolic" : "pan-down-symbolic")
        gtk_widget_set_can_target(button.cast(), group.canExpand ? 1 : 0)
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
