import ChatCore
import ChatViewModels
import GtkKit

/// The message menu, shared by the whole timeline.
final class MessageMenu {
    /// Called with the message and the chosen action.
    var onAction: ((MessageID, MessageAction) -> Void)?
    /// Called to choose a reaction, with the message and the widget that the menu was opened at.
    var onReact: ((MessageID, Widget) -> Void)?
    /// Called to explain the warning about a message's sender.
    var onExplainTrust: ((MessageTrust) -> Void)?
    /// Called to select the message.
    var onSelect: ((MessageID) -> Void)?
    /// Called to open the link that the menu was opened over, with the widget that the menu was opened at.
    var onOpenLink: ((BodyLink, Widget) -> Void)?
    /// Called to copy the address of the link that the menu was opened over.
    var onCopyAddress: ((BodyLink) -> Void)?

    /// The names of the menu actions that need only the message.
    private static let names: [(String, MessageAction)] = [
        ("reply", .reply), ("copy", .copy), ("edit", .edit), ("delete", .requestDeletion), ("history", .showHistory),
        ("retry", .retry), ("copy-link", .copyLink), ("forward", .forward),
    ]

    private let parent: Widget
    /// Created on demand: GTK creates widgets for all menu items.
    private var madePopover: PopoverMenu?
    private let model: Object
    private let group = ActionGroup()
    private var actions: [(action: Action, isEnabled: (MessageItem) -> Bool)] = []
    private var item: MessageItem?
    /// The actions for ``link``.
    private var linkActions: [Action] = []
    /// What the menu was opened over, if that is a link.
    private var link: BodyLink?
    private let focus: FocusRestorer
    private var opener: Widget?

    /// - Parameter rows: Those of the messages, one of which may have the focus.
    init(parent: Widget, rows: (any RecycledRows)? = nil) {
        self.parent = parent
        focus = FocusRestorer(rows: rows)
        model = Builder(resource: Resource.ui("message-menu"))["menu", Object.self]
        for (name, action) in Self.names {
            add(name, isEnabled: { $0.offers(action) }) { $0.onAction?($1, action) }
        }
        add("select", isEnabled: \.canSelect) { $0.onSelect?($1) }
        add("react", isEnabled: \.canReact) { menu, message in
            if let opener = menu.opener { menu.onReact?(message, opener) }
        }
        add("trust", isEnabled: { $0.visibleTrust != nil }) { menu, _ in
            if let trust = menu.item?.visibleTrust { menu.onExplainTrust?(trust) }
        }
        addForLink("open-link") { menu, link in
            if let opener = menu.opener { menu.onOpenLink?(link, opener) }
        }
        addForLink("copy-address") { $0.onCopyAddress?($1) }
        parent.insertActions(group, prefix: "message")
    }

    private var popover: PopoverMenu {
        if let madePopover { return madePopover }
        let popover = PopoverMenu(model: model, parent: parent)
        popover.onClose { [weak self] in self?.focus.restore() }
        madePopover = popover
        return popover
    }

    private func add(
        _ name: String, isEnabled: @escaping (MessageItem) -> Bool,
        _ perform: @escaping @MainActor (MessageMenu, MessageID) -> Void
    ) {
        let action = group.add(name) { [weak self] in
            if let self, let item { perform(self, item.id) }
        }
        actions.append((action, isEnabled))
    }

    private func addForLink(_ name: String, _ perform: @escaping @MainActor (MessageMenu, BodyLink) -> Void) {
        let action = group.add(name, isEnabled: false) { [weak self] in
            if let self, let link { perform(self, link) }
        }
        linkActions.append(action)
    }

    isolated deinit {
        madePopover?.unparent()
    }

    var isOpen: Bool { madePopover?.isVisible == true }

    /// Opens at the center of the widget.
    func open(for item: MessageItem, at widget: Widget) {
        open(for: item, at: widget, x: Double(widget.width) / 2, y: Double(widget.height) / 2)
    }

    /// Opens at a point in the widget's coordinates.
    /// - Parameter link: The link at that point, or `nil` if there is none.
    func open(for item: MessageItem, at widget: Widget, x: Double, y: Double, over link: BodyLink? = nil) {
        guard let position = widget.translate(x: x, y: y, to: parent) else { return }
        self.item = item
        self.link = link
        opener = widget
        for (action, isEnabled) in actions { action.isEnabled = isEnabled(item) }
        for action in linkActions { action.isEnabled = link != nil }
        guard item.offersMenu || link != nil else { return }
        focus.save(around: parent)
        popover.popUp(x: position.x, y: position.y)
    }
}
