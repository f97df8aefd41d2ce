import ChatViewModels
import GtkKit
import MediaGtk

/// The popover with the card of a mention in a message (HKW-56). Shared by the whole timeline.
final class MentionPopover {
    private let parent: Widget
    private let content: Widget
    private let popover = Popover()
    private var card: UserCard?
    private let focus: FocusRestorer

    /// - Parameters:
    ///   - content: what has the mentions. While the card is open, the pointer finds nothing in it: although the
    ///     popover has a grab, GTK would show the tooltip of what is under the pointer over the card.
    ///   - rows: those of the content, one of which may have the focus.
    init(parent: Widget, over content: Widget, rows: any RecycledRows) {
        self.parent = parent
        focus = FocusRestorer(rows: rows)
        self.content = content
        popover.addStyle("mention-card-popover")
        popover.attachPopover(to: parent)
        popover.onClose { [weak self] in
            self?.content.canTarget = true
            self?.focus.restore()
        }
    }

    isolated deinit { popover.unparent() }

    /// Opens at a mention in a descendant of the parent.
    func open(_ content: UserCard.Content, at mention: ActivatedMention, avatars: AvatarLoader?) {
        guard let text = mention.text.bounds(in: parent) else { return }
        var content = content
        if let open = content.open {
            content.open = { [weak self] in
                self?.popover.popDown()
                open()
            }
        }
        focus.save(around: parent)
        let card = UserCard(content, avatarLoader: avatars)
        self.card = card
        popover.setChild(card.widget)
        popover.setAccessibleLabel(content.card.accessibleText)
        let bounds = mention.bounds
        popover.point(x: text.x + bounds.x, y: text.y + bounds.y, width: bounds.width, height: bounds.height)
        self.content.canTarget = false
        popover.popUp()
    }
}
