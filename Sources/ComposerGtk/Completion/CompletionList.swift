import Composer
import ComposerSessions
import GtkKit

/// The default list of suggestions, with a status row for loading and failure. Does not take the focus.
final class CompletionList: CompletionChooser {
    let widget: Widget
    /// Called with the index of the row that was clicked.
    var onAccept: ((Int) -> Void)?
    /// Called when the user retries a failed query.
    var onRetry: (() -> Void)?
    var avatars: CompletionAvatars?

    private let scroller = ScrolledWindow(horizontal: .never, vertical: .automatic)
    private let status = Box(.horizontal, spacing: 9)
    private let spinner = Spinner()
    private let warning = Image(icon: "dialog-warning-symbolic")
    private let statusText = Label()
    private let retry = Button(mnemonic: translated("_Retry"))
    private let emptyRow = CompletionRow()
    private var list: IndexedList?
    private var rows: [ObjectIdentity: CompletionRow] = [:]
    private var displayedState: CompletionState?
    /// The height of the visible rows, in pixels.
    private var height = 0

    init() {
        let box = Box(.vertical)
        widget = box
        box.addStyle("parlance-completions")
        // The dock would otherwise allocate no more than the natural width.
        box.hexpand = true
        let list = IndexedList(
            make: { [weak self] in self?.makeRow() ?? Label() },
            bind: { [weak self] row, index in
                guard let self, let displayedState = self.displayedState else { return }
                self.rows[row.identity]?.show(index, of: displayedState, self.avatars)
            },
            teardown: { [weak self] in self?.rows[$0.identity] = nil })
        self.list = list
        list.widget.setAccessibleLabel(translated("Suggestions"))
        scroller.setChild(list.widget)
        box.append(scroller)
        setUpStatus()
        box.append(status)
    }

    private func setUpStatus() {
        status.addStyle("completion-status")
        status.addStyle("dim-label")
        for child in [spinner, warning, statusText, retry] { status.append(child) }
        statusText.hexpand = true
        statusText.xalign = 0
        retry.addStyle("flat")
        retry.onClick { [weak self] in self?.onRetry?() }
        widget.canFocus = false
        statusText.setEllipsize(.end)
    }

    private func makeRow() -> Widget {
        let row = CompletionRow()
        row.onClick = { [weak self] in self?.onAccept?($0) }
        rows[row.widget.identity] = row
        return row.widget
    }

    /// The number of rows that exist, in view or near it.
    var rowCount: Int { rows.count }

    /// Returns the row's widget, or `nil` if it is not in view.
    func row(at index: Int) -> Widget? { list?.row(at: index) }

    func accessibleRow(at index: Int) -> Widget? { row(at: index).map(IndexedList.item(of:)) }

    func show(_ completion: CompletionState) {
        let previous = displayedState
        displayedState = completion
        if list?.count != completion.items.count { list?.count = completion.items.count }
        list?.refresh()
        scroller.isVisible = !completion.items.isEmpty
        let height = completion.visibleRows * rowHeight
        if height > 0, height != self.height {
            self.height = height
            scroller.setContentHeight(minimum: height, maximum: height)
        }
        let isOther = previous?.items != completion.items || previous?.selected != completion.selected
        if isOther, !completion.items.isEmpty { list?.scroll(to: completion.selected ?? 0) }
        status.isVisible = completion.isLoading || completion.hasFailed
        spinner.isVisible = !completion.hasFailed
        spinner.isSpinning = completion.isLoading
        warning.isVisible = completion.hasFailed
        statusText.text = CompletionText.desktop.status(completion)
        retry.isVisible = completion.hasFailed
    }

    func clear() {
        displayedState = nil
        spinner.isSpinning = false
    }

    /// The height of a row, in pixels. All rows are equally high; measuring an empty one accounts for font and text
    /// scale.
    private var rowHeight: Int { emptyRow.widget.measure(.vertical).natural }
}
