import ChatCore
import ChatViewModels
import ComposerGtk
import GtkKit

/// A verification: the request, the comparison, and the outcome.
final class VerificationDialog {
    let widget: Dialog
    private let viewModel: VerificationViewModel
    private let builder: Builder
    private let comparison: Widget
    private let emojiList: FlowBox
    private let numbers: Widget
    private let digits: Label
    private let announcements: PageAnnouncements
    private let busyFocus = BusyFocus()
    private var emojiCells: [Widget] = []
    private var displayedState: VerificationViewModel.State?
    private var rendering: Rendering?

    /// Presents the dialog, which retains itself until it is closed.
    @discardableResult
    static func present(_ viewModel: VerificationViewModel, over parent: Widget) -> VerificationDialog {
        let dialog = VerificationDialog(viewModel)
        dialog.widget.onCloseRequest { [weak viewModel] in
            viewModel?.send(.close)
            return false
        }
        dialog.widget.retain([dialog])
        viewModel.isPresented = true
        // Another window presents it again if this dialog was closed with its window, without an answer.
        dialog.widget.onClosed { [weak viewModel] in viewModel?.isPresented = false }
        dialog.widget.present(over: parent)
        dialog.focus(dialog.viewModel.state)
        dialog.announcements.start()
        return dialog
    }

    private init(_ viewModel: VerificationViewModel) {
        self.viewModel = viewModel
        builder = Builder(resource: Resource.ui("verification"))
        widget = Dialog(builder)
        comparison = builder["comparison"]
        emojiList = builder["emoji"]
        numbers = builder["numbers"]
        digits = builder["digits"]
        announcements = PageAnnouncements(in: builder["overlay"])
        // The box around them has a label.
        digits.hideFromAccessibility()
        for (button, action) in [
            ("accept", VerificationViewModel.Action.accept), ("match", .confirmMatch), ("mismatch", .reportMismatch),
            ("close", .close),
        ] {
            builder[button, Button.self].onClick { [weak viewModel] in viewModel?.send(action) }
        }
        builder["other_way", Button.self].onClick { [weak viewModel] in
            if let viewModel { viewModel.send(.showNumbers(!viewModel.state.showsNumbers)) }
        }
        rendering = Rendering({ viewModel.state }, { [weak self] in self?.render($0) })
    }

    /// The last announced page.
    var announced: String { announcements.announced }

    // MARK: Rendering

    private func render(_ state: VerificationViewModel.State) {
        if state.isOver { return widget.close() }
        // The other verification gets the window. This one is presented again after it.
        if state.isSetAside { return widget.forceClose() }
        let isNewPage = displayedState.map { $0.page != state.page } ?? false
        busyFocus.prepare(for: state.isBusy, in: widget)
        let text = VerificationText(.gettext)
        widget.title = text.windowTitle(state)
        builder["title", Label.self].text = text.title(state)
        builder["page", Widget.self].setAccessibleLabel(text.title(state))
        let identifier: Label = builder["identifier"]
        identifier.text = text.identifier(state)
        identifier.isVisible = !text.identifier(state).isEmpty
        builder["explanation", Label.self].text = text.explanation(state)
        showIcon(state.icon)
        showComparison(state, text)
        updateButtons(state, text)
        let parts = parts(state)
        for (part, isVisible) in parts where isVisible { part.isVisible = true }
        // Set the focus first: when the focused widget is hidden, GTK moves the focus after all of this.
        if isNewPage { focus(state) }
        for (part, isVisible) in parts where !isVisible { part.isVisible = false }
        busyFocus.restore(in: widget, isNewPage: isNewPage)
        let problem: Label = builder["problem"]
        problem.text = state.error.map { EncryptionText(.gettext).text(for: $0) } ?? ""
        problem.isVisible = state.error != nil
        let spinner: Spinner = builder["spinner"]
        spinner.isVisible = state.isWaiting
        spinner.isSpinning = state.isWaiting
        displayedState = state
        // Last, as the report of a new focus interrupts it.
        announcements.show(text.announcement(state))
    }

    private func showIcon(_ icon: VerificationViewModel.State.Icon?) {
        let image: Image = builder["icon"]
        image.isVisible = icon != nil
        image.iconName = icon?.rawValue
        image.setStyle("success", icon == .success)
        image.setStyle("error", icon == .failure)
    }

    private func showComparison(_ state: VerificationViewModel.State, _ text: VerificationText) {
        guard case .comparing(let emoji, let values) = state.verification.phase else { return }
        digits.text = text.text(values)
        numbers.setAccessibleLabel(text.accessibleText(values))
        if displayedState.map({ $0.verification.phase == state.verification.phase }) == true { return }
        for cell in emojiCells { emojiList.remove(cell) }
        emojiCells = emoji.map(cell)
        for cell in emojiCells { emojiList.append(cell) }
        comparison.setAccessibleLabel(text.accessibleText(emoji))
    }

    private func cell(_ emoji: VerificationEmoji) -> Widget {
        let content = Box(.vertical, spacing: 3)
        let symbol = Label(emoji.symbol)
        symbol.addStyle("verification-symbol")
        let name = Label(emoji.name(.gettext))
        name.addStyle("caption")
        name.wrap = true
        name.setWrapMode(.wordOrCharacter)
        name.setJustify(.center)
        name.maxWidthChars = 10
        for label in [symbol, name] { content.append(label) }
        let cell = FlowBoxChild(content)
        cell.isFocusable = false
        // Four in a row, or three at the minimum width.
        cell.setSizeRequest(width: 72)
        // The box around them has a label with all the words.
        for part in [cell, content, symbol, name] { part.hideFromAccessibility() }
        return cell
    }

    /// The widgets that only some pages show.
    private func parts(_ state: VerificationViewModel.State) -> [(Widget, isVisible: Bool)] {
        let buttons: [(String, Bool)] = [
            ("accept", state.page == .request), ("match", state.isComparing), ("mismatch", state.isComparing),
            ("close", !state.isComparing), ("other_way", state.canChangeWay),
        ]
        return [(comparison, state.page == .emoji), (numbers, state.page == .numbers)]
            + buttons.map { (builder[$0, Widget.self], $1) }
    }

    private func updateButtons(_ state: VerificationViewModel.State, _ text: VerificationText) {
        for name in ["accept", "match", "mismatch", "close", "other_way"] {
            let button: Button = builder[name]
            button.isSensitive = !state.isBusy || name == "close" || name == "other_way"
        }
        let close: Button = builder["close"]
        close.label = text.closeButton(state)
        close.setStyle("suggested-action", state.verification.phase == .done)
        builder["other_way", Button.self].label = text.otherWay(state)
    }

    /// Focuses the text to be read, or nothing, so that a key press meant for another window does not answer.
    private func focus(_ state: VerificationViewModel.State) {
        switch state.page {
        case .emoji: comparison.grabFocus()
        case .numbers: numbers.grabFocus()
        case .ended: builder["close", Button.self].grabFocus()
        case .request, .progress: widget.root?.focus = nil
        }
    }
}
