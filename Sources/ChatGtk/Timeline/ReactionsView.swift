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
    private var chips: [Chip] = []
    var lastLine: Widget? { lines.last }
    /// The number of reactions without a chip, in this line.
    private lazy var more = Label()
    private var moreLine: Box?
    private var displayed = ShownReactions([])

    /// A button for the reaction with this text.
    private final class Chip {
        let button = Button()
        var text = ""
        var line: Box?
    }

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
        arrange(matchingChips(for: reactions.map(\.text)))
        for (chip, reaction) in zip(chips, reactions) {
            let button = chip.button
            button.label = reaction.count > 1 ? "\(reaction.text) \(reaction.count)" : reaction.text
            button.setStyle("given", reaction.isOwn)
            button.tooltip = MessageText.localized.names(reaction)
            button.setAccessibleLabel(MessageText.localized.accessibleText(reaction))
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

    // MARK: Chips

    /// A reaction keeps its chip while others come and go: the focus, or a press, must not end up on another reaction.
    private func matchingChips(for texts: [String]) -> [Chip] {
        let listed = Set(texts)
        let same = Dictionary(chips.map { ($0.text, $0) }) { first, _ in first }
        // A row that is recycled recycles its chips, from the first on, so that none has to move.
        var free = chips.reversed().filter {
            !listed.contains($0.text) && !$0.button.isFocus && !$0.button.stateFlags.contains(.active)
        }
        return texts.map { text in
            let chip = same[text] ?? free.popLast() ?? makeChip()
            chip.text = text
            return chip
        }
    }

    /// Puts these chips into lines, and removes all others.
    private func arrange(_ next: [Chip]) {
        let former = chips
        guard !former.elementsEqual(next, by: ===) else { return }
        chips = next
        let focused = former.firstIndex { $0.button.isFocus }
        for chip in former where !next.contains(where: { $0 === chip }) { chip.line?.remove(chip.button) }
        for (index, chip) in next.enumerated() {
            let (number, place) = index.quotientAndRemainder(dividingBy: Self.chipsInLine)
            if number == lines.count { addLine() }
            let line = lines[number]
            if chip.line !== line {
                chip.line?.remove(chip.button)
                line.append(chip.button)
                chip.line = line
            }
            line.move(chip.button, after: place == 0 ? nil : next[index - 1].button)
        }
        while (lines.count - 1) * Self.chipsInLine >= next.count, let line = lines.popLast() { widget.remove(line) }
        if let focused { restoreFocus(to: former[focused], at: focused) }
    }

    /// GTK drops the focus of a chip that moves to another line. That of a chip that is gone goes to the next one, or
    /// to the row.
    private func restoreFocus(to chip: Chip, at index: Int) {
        if chips.contains(where: { $0 === chip }) {
            chip.button.grabFocus()
        } else if let next = chips.indices.contains(index) ? chips[index] : chips.last {
            next.button.grabFocus()
        } else {
            widget.parent?.grabFocus()
        }
    }

    private func makeChip() -> Chip {
        let chip = Chip()
        chip.button.addStyle("reaction")
        chip.button.onClick { [weak self, weak chip] in
            if let self, let chip { onToggle?(chip.text) }
        }
        return chip
    }

    private func addLine() {
        let line = Box(.horizontal, spacing: 3)
        line.halign = isOwn ? .end : .start
        widget.append(line)
        lines.append(line)
    }
}
