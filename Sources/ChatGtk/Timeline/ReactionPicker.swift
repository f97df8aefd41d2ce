import ChatCore
import ChatViewModels
import GtkKit

/// A popover with a few quick reactions and a button for all emoji. Shared by the whole timeline.
final class ReactionPicker {
    static let quick = ["👍", "❤️", "😂", "🎉", "😮", "🙏"]

    var onPick: ((MessageID, MessageAction) -> Void)?

    private let parent: Widget
    private let popover = Popover()
    /// Created on demand, because it loads a table of all emoji.
    private var chooser: EmojiChooser?
    private(set) var buttons: [Button] = []
    private var message: MessageID?
    /// The reactions of the user's own when it was opened. Another device may add or remove some before one is picked.
    private var given: Set<String> = []
    /// What the popovers point to, in the parent's coordinates.
    private var target = (x: 0.0, y: 0.0, width: 0.0, height: 0.0)
    private let focus: FocusRestorer
    private var isOpeningChooser = false

    /// - Parameter rows: Those of the messages, one of which may have the focus.
    init(parent: Widget, rows: any RecycledRows) {
        self.parent = parent
        focus = FocusRestorer(rows: rows)
        popover.addStyle("reaction-picker")
        popover.setAccessibleLabel(translated("React"))
        popover.attachPopover(to: parent)
        let row = Box(.horizontal)
        for emoji in Self.quick {
            let button = Button(label: emoji)
            button.setAccessibleLabel(emoji)
            button.onClick { [weak self] in self?.pick(emoji) }
            buttons.append(button)
        }
        let more = Button(icon: "parlance-more-symbolic")
        more.tooltip = translated("All Emoji")
        more.setAccessibleLabel(translated("All Emoji"))
        more.onClick { [weak self] in self?.openChooser() }
        for button in buttons + [more] {
            button.addStyle("flat")
            row.append(button)
        }
        popover.setChild(row)
        popover.onClose { [weak self] in
            if self?.isOpeningChooser == false { self?.focus.restore() }
        }
    }

    isolated deinit {
        popover.unparent()
        chooser?.unparent()
    }

    var isOpen: Bool { popover.isVisible }

    /// Opens at a descendant of the parent.
    func open(for item: MessageItem, at widget: Widget) {
        guard let bounds = widget.bounds(in: parent) else { return }
        message = item.id
        given = Set(item.reactions.filter(\.isOwn).map(\.text))
        focus.save(around: parent)
        target = bounds
        popUp(popover)
        buttons.first?.grabFocus()
    }

    private func pick(_ text: String) {
        popover.popDown()
        if let message { onPick?(message, .setReaction(text, isGiven: !given.contains(text))) }
    }

    private func openChooser() {
        let chooser = chooser ?? makeChooser()
        self.chooser = chooser
        isOpeningChooser = true
        popover.popDown()
        isOpeningChooser = false
        popUp(chooser)
    }

    private func popUp(_ popover: Popover) {
        popover.point(x: target.x, y: target.y, width: target.width, height: target.height)
        popover.popUp()
    }

    private func makeChooser() -> EmojiChooser {
        let chooser = EmojiChooser()
        chooser.attachPopover(to: parent)
        chooser.onPick { [weak self] in self?.pick($0) }
        chooser.onClose { [weak self] in self?.focus.restore() }
        return chooser
    }
}
