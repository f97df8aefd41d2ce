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
    private let delete = Button(icon: "parlance-delete-symbolic")

    init() {
        widget = Revealer(.slideUp)
        let bar = Box(.horizontal, spacing: 6)
        bar.addStyle("toolbar")
        let cancel = Button(icon: "parlance-close-symbolic")
        let copy = Button(icon: "parlance-copy-symbolic")
        let forward = Button(icon: "parlance-forward-symbolic")
        count.hexpand = true
        count.xalign = 0
        count.setEllipsize(.end)
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
        widget.setChild(bar)
    }

    func show(_ selection: SelectedMessages) {
        let selectedCount = selection.count
        // Leave the last count in place while the bar fades out.
        if selectedCount > 0 { count.text = MessageText.localized.selectedCount(selectedCount) }
        delete.isSensitive = selection.canDelete
        widget.isRevealed = selectedCount > 0
    }
}
