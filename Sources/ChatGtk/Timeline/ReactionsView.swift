import ChatViewModels
import GtkKit

/// The reactions below a message with their counts; clicking one toggles the user's own reaction.
final class ReactionsView {
    /// How many chips fit on a line in the narrowest window.
    private static let chipsInLine = 5

    let widget = Box(.vertical, spacing: 3)
    private var lines: [Box] = []
    let isOwn: Bool
    var onToggle: ((String) -> Void)?
    private var chips: [Button] = []
    var lastLine: Widget? { lines.last }
    /// The number of reactions without a chip, in this line.
    private lazy var more = Label()
    private var moreLine: Box?
    private var displayed = ShownReactions([])
    private var displayedReactions: [MessageItem.Reaction] { displayed.reactions }

    init(isOwn: Bool) {
        self.isOwn = isOwn
        widget.halign = isOwn ? .end : .start
        widget.addStyle("message-reactions")
        widget.setAccessibleLabel(translated("Reactions"))
        widget.isVisible = false
    }

    func show(_ reactions: [MessageItem.Reaction]) {
        let shown = ShownReactions(reactions)
        guard shown != displayed else { return }
        displayed = shown
        let reactions = shown.reactions
        moreLine?.remove(more)
        moreLine = nil
        while chips.count > reactions.count, let chip = chips.popLast() {
            lines.last?.remove(chip)
            if chips.count.isMultiple(of: Self.chipsInLine), let line = lines.popLast() { widget.remove(line) }
        }
        while chips.count < reactions.count { addChip() }
        for (chip, reaction) in zip(chips, reactions) {
            chip.label = reaction.count > 1 ? "\(reaction.text) \(reaction.count)" : reaction.text
            chip.setStyle("given", reaction.isOwn)
            chip.tooltip = MessageText.localized.names(reaction)
            chip.setAccessibleLabel(MessageText.localized.accessibleText(reaction))
        }
        if shown.more > 0 { showMore(shown.more) }
        widget.isVisible = !reactions.isEmpty
    }

    private func showMore(_ count: Int) {
        more.addStyle("more-reactions")
        more.text = "+\(count)"
        more.tooltip = MessageText.localized.moreReactions(count)
        more.setAccessibleLabel(MessageText.localized.moreReactions(count))
        moreLine = lines.last
        moreLine?.append(more)
    }

    private func addChip() {
        let (chip, index) = (Button(), chips.count)
        chip.addStyle("reaction")
        chip.onClick { [weak self] in
            guard let self, self.displayedReactions.indices.contains(index) else { return }
            self.onToggle?(self.displayedReactions[index].text)
        }
        if index.isMultiple(of: Self.chipsInLine) {
            let line = Box(.horizontal, spacing: 3)
            line.halign = isOwn ? .end : .start
            widget.append(line)
            lines.append(line)
        }
        lines.last?.append(chip)
        chips.append(chip)
    }
}
