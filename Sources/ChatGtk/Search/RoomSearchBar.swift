import ChatCore
import ChatViewModels
import GtkKit

/// The search bar above the timeline: a field, the match count, and buttons that step through the matches.
final class RoomSearchBar {
    let widget: Clamp
    /// Called to restore the focus when the search closes.
    var onClose: (() -> Void)?

    let field = SearchField(label: translated("Search this room"))
    private var viewModel: RoomSearchViewModel
    private let count = Label()
    private let problem = Label()
    private let older = RoomSearchBar.button("go-up-symbolic", translated("Older Match"))
    private let newer = RoomSearchBar.button("go-down-symbolic", translated("Newer Match"))
    private var rendering: Rendering?

    init(viewModel: RoomSearchViewModel) {
        self.viewModel = viewModel
        widget = Clamp()
        widget.setSize(maximum: 820, tighteningThreshold: 820)
        build()
        field.onType = { [weak self] in self?.viewModel.send(.field(.type($0))) }
        field.onReturn = { [weak self] in self?.viewModel.send($0 ? .stepNewer : .stepOlder) }
        field.onEscape = { [weak self] in self?.close() }
        older.onClick { [weak self] in self?.viewModel.send(.stepOlder) }
        newer.onClick { [weak self] in self?.viewModel.send(.stepNewer) }
        show(viewModel)
    }

    /// Searches another room from now on.
    func show(_ viewModel: RoomSearchViewModel) {
        rendering = nil
        self.viewModel = viewModel
        count.text = ""
        rendering = Rendering({ viewModel.state }, { [weak self] in self?.render($0) })
    }

    func open() {
        viewModel.send(.field(.open))
        // Without a transition: GTK drops key events for widgets that are not mapped yet.
        widget.isVisible = true
        field.grabFocus()
    }

    func close() {
        viewModel.send(.field(.close))
        onClose?()
    }

    /// The match count beside the field.
    var countText: String { count.text }
    var problemText: String { problem.isVisible ? problem.text : "" }

    private func render(_ state: RoomSearchViewModel.State) {
        widget.isVisible = state.isOpen
        field.show(viewModel.state.text)
        if let text = SearchText(.desktop).count(state) { count.text = text }
        count.isVisible = !count.text.isEmpty
        problem.text = SearchText(.desktop).text(for: state.problems, state.error)
        problem.isVisible = !problem.text.isEmpty
        field.widget.setStyle("error", problem.isVisible || state.hasNoResults)
        for button in [older, newer] { button.isSensitive = state.canStep }
    }

    // MARK: Building

    private func build() {
        let line = Box(.horizontal, spacing: 6)
        line.append(field.widget)
        for style in ["numeric", "dim-label", "caption"] { count.addStyle(style) }
        line.append(count)
        let steps = Box(.horizontal)
        steps.addStyle("linked")
        steps.append(older)
        steps.append(newer)
        line.append(steps)
        let close = Self.button("parlance-close-symbolic", translated("Close Search"))
        close.addStyle("flat")
        close.onClick { [weak self] in self?.close() }
        line.append(close)
        for style in ["caption", "error"] { problem.addStyle(style) }
        problem.xalign = 0
        problem.wrap = true
        let column = Box(.vertical, spacing: 6)
        column.addStyle("parlance-search")
        column.append(line)
        column.append(problem)
        widget.setChild(column)
        widget.isVisible = false
    }

    private static func button(_ icon: String, _ label: String) -> Button {
        let button = Button(icon: icon)
        button.tooltip = label
        button.setAccessibleLabel(label)
        return button
    }
}
