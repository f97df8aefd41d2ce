import CGtk
import ChatViewModels
import GtkKit

/// The actions for selected messages, below the timeline while any are selected.
final class SelectionBar {
    let widget: Revealer
    var onCopy: (() -> Void)?
    var onForward: (() -> Void)?
    var onDelete: (() -> Void)?
    var onCancel: (() -> Void)?

    private let count = Label()
    private let delete = Button(sinking: gtk_button_new_from_icon_name("user-trash-symbolic"))

    init() {
        widget = Revealer(sinking: gtk_revealer_new())
        gtk_revealer_set_transition_type(widget.cast(), GTK_REVEALER_TRANSITION_TYPE_SLIDE_UP)
        let bar = Box(.horizontal, spacing: 6)
        bar.addStyle("toolbar")
        let cancel = Button(sinking: gtk_button_new_from_icon_name("window-close-symbolic"))
        let copy = Button(sinking: gtk_button_new_from_icon_name("edit-copy-symbolic"))
        let forward = Button(sinking: gtk_button_new_from_icon_name("mail-forward-symbolic"))
        gtk_widget_set_hexpand(count.cast(), 1)
        gtk_label_set_xalign(count.cast(), 0)
        gtk_label_set_ellipsize(count.cast(), PANGO_ELLIPSIZE_END)
        let buttons: [(Button, String, @MainActor () -> Void)] = [
            (cancel, translated("Cancel"), { [weak self] in self?.onCancel?() }),
            (copy, translated("Copy"), { [weak self] in self?.onCopy?() }),
            (forward, translated("Forward"), { [weak self] in self?.onForward?() }),
            (delete, translated("Delete"), { [weak self] in self?.onDelete?() }),
        ]
        for (button, label, action) in buttons {
            button.addStyle("flat")
            button.tooltip = label
            button.setAccessibleLabel(label)
            button.onClick(action)
        }
        let children: [Widget] = [cancel, count, copy, forward, delete]
        children.forEach(bar.append)
        gtk_revealer_set_child(widget.cast(), bar.cast())
    }

    func show(_ selection: SelectedMessages) {
        let selectedCount = selection.count
        // Leave the last count in place while the bar fades out.
        if selectedCount > 0 {
            count.text = translated("%d selected", "%d selected", count: selectedCount).replacing(
                "%d", with: "\(selectedCount)")
        }
        delete.isSensitive = selection.canDelete
        widget.isRevealed = selectedCount > 0
    }
}
