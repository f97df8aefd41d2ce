import CGtk
import ChatCore
import ChatViewModels
import GtkKit

/// The message menu, shared by the whole timeline.
final class MessageMenu {
    var onEdit: ((MessageID) -> Void)?
    var onDelete: ((MessageItem) -> Void)?
    var onReply: ((MessageID) -> Void)?
    var onCopy: ((MessageItem) -> Void)?
    /// Called with the message and the widget that the menu was opened at.
    var onReact: ((MessageItem, Widget) -> Void)?
    var onHistory: ((MessageID) -> Void)?
    var onForward: ((MessageID) -> Void)?
    var onCopyLink: ((MessageID) -> Void)?
    var onRetry: ((MessageID) -> Void)?
    var onSelect: ((MessageID) -> Void)?

    private let parent: Widget
    private let popover: PopoverMenu
    private let actions = ActionGroup()
    private var item: MessageItem?
    private let focus = FocusRestorer()
    private var reply: Action?
    private var copy: Action?
    private var edit: Action?
    private var delete: Action?
    private var react: Action?
    private var history: Action?
    private var forward: Action?
    private var copyLink: Action?
    private var select: Action?
    private var retry: Action?
    private var opener: Widget?

    init(parent: Widget) {
        self.parent = parent
        let builder = Builder(resource: Resource.ui("message-menu"))
        popover = PopoverMenu(model: builder["menu", Object.self], parent: parent)
        reply = actions.add("reply") { [weak self] in
            guard let self, let item = self.item else { return }
            self.onReply?(item.id)
        }
        copy = actions.add("copy") { [weak self] in
            guard let self, let item = self.item else { return }
            self.onCopy?(item)
        }
        edit = actions.add("edit") { [weak self] in
            guard let self, let item = self.item else { return }
            self.onEdit?(item.id)
        }
        delete = actions.add("delete") { [weak self] in
            guard let self, let item = self.item else { return }
            self.onDelete?(item)
        }
        addMore()
        parent.insertActions(actions, prefix: "message")
        popover.connect("closed") { [weak self] _ in self?.focus.restore() }
    }

    private func addMore() {
        react = actions.add("react") { [weak self] in
            guard let self, let item = self.item, let opener = self.opener else { return }
            self.onReact?(item, opener)
        }
        history = actions.add("history") { [weak self] in
            guard let self, let item = self.item else { return }
            self.onHistory?(item.id)
        }
        select = actions.add("select") { [weak self] in
            guard let self, let item = self.item else { return }
            self.onSelect?(item.id)
        }
        retry = actions.add("retry") { [weak self] in
            guard let self, let item = self.item else { return }
            self.onRetry?(item.id)
        }
        copyLink = actions.add("copy-link") { [weak self] in
            guard let self, let item = self.item else { return }
            self.onCopyLink?(item.id)
        }
        forward = actions.add("forward") { [weak self] in
            guard let self, let item = self.item else { return }
            self.onForward?(item.id)
        }
    }

    isolated deinit {
        if gtk_widget_get_parent(popover.cast()) != nil { gtk_widget_unparent(popover.cast()) }
    }

    var isOpen: Bool { popover.isVisible }

    /// Opens at the center of the widget.
    func open(for item: MessageItem, at widget: Widget) {
        open(for: item, at: widget, x: Double(widget.width) / 2, y: Double(widget.height) / 2)
    }

    func open(for item: MessageItem, at widget: Widget, x: Double, y: Double) {
        var (parentX, parentY) = (0.0, 0.0)
        guard shim_translate(widget.pointer, parent.pointer, x, y, &parentX, &parentY) != 0 else {
            return
        }
        self.item = item
        opener = widget
        react?.isEnabled = item.canReact
        history?.isEnabled = item.hasHistory
        retry?.isEnabled = item.canRetry
        select?.isEnabled = item.canSelect
        forward?.isEnabled = item.canForward
        copyLink?.isEnabled = item.canCopyLink
        reply?.isEnabled = item.canReply
        copy?.isEnabled = item.canCopy
        edit?.isEnabled = item.canEdit
        delete?.isEnabled = item.canDelete
        guard item.canCopy || item.canEdit || item.canDelete else { return }
        focus.save(around: parent)
        popover.popUp(x: parentX, y: parentY)
    }
}
