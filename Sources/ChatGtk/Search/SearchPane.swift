import CGtk
import ChatCore
import ChatViewModels
import GtkKit

/// The search in all rooms, which replaces the room list: a field and its results.
final class SearchPane {
    let widget = Box(.vertical)
    /// Called to restore the focus when the search closes.
    var onClose: (() -> Void)?
    /// Called when the user chooses a result.
    var onChoose: (() -> Void)?

    let field = SearchField(label: translated("Search all rooms"))
    let list = ListView()
    let retry = Button(mnemonic: translated("_Retry"))
    private var viewModel: SearchViewModel
    private let scroller: ScrolledWindow
    private let hint = Label()
    private let nothing = StatusPage(title: translated("No Messages Found"), iconName: "edit-find-symbolic")
    private let model = KeyListModel()
    private var byKey: [String: SearchResult] = [:]
    private var bound: [ObjectIdentity: (row: SearchResultRow, key: String?)] = [:]
    private var rendering: Rendering?

    init(viewModel: SearchViewModel) {
        self.viewModel = viewModel
        scroller = ScrolledWindow(list)
        build()
        field.onType = { [weak self] in self?.viewModel.send(.field(.type($0))) }
        field.onReturn = { [weak self] _ in self?.choose(self?.list.selectedIndex ?? 0) }
        field.onDown = { [weak self] in self?.enterList() }
        field.onEscape = { [weak self] in self?.close() }
        list.setUp(
            model, make: { [weak self] in self?.makeRow() ?? Label() },
            bind: { [weak self] widget, key in self?.bind(widget, key) },
            unbind: { [weak self] widget, _ in self?.bound[widget.identity]?.key = nil },
            teardown: { [weak self] in self?.bound[$0.identity] = nil })
        list.onActivate { [weak self] in self?.choose($0) }
        retry.onClick { [weak self] in
            self?.viewModel.send(.retry)
            // The button is hidden once there is no failure any more.
            self?.field.widget.grabFocus()
        }
        addListKeys()
        let adjustment = scroller.verticalAdjustment
        for signal in ["value-changed", "changed"] {
            adjustment.connect(signal) { [weak self] _ in self?.loadIfNear() }
        }
        show(viewModel)
    }

    /// Switches to the rooms of another account.
    func show(_ viewModel: SearchViewModel) {
        self.viewModel = viewModel
        rendering = Rendering({ [viewModel] in Timed(viewModel.state) }, { [weak self] in self?.render($0.state) })
    }

    func open() {
        viewModel.send(.field(.open))
        widget.isVisible = true
        field.grabFocus()
    }

    func close() {
        viewModel.send(.field(.close))
        onClose?()
    }

    /// The number of rows that exist.
    var rowCount: Int { bound.count }
    /// The number of times that the widgets of a row were set.
    var renderCount: Int { bound.values.reduce(0) { $0 + $1.row.renderCount } }
    var hintText: String { hint.isVisible ? hint.text : "" }
    var showsNoResults: Bool { nothing.isVisible }

    // MARK: Rendering

    private func render(_ state: SearchViewModel.State) {
        field.show(viewModel.state.text)
        byKey = Dictionary(state.results.map { (key(of: $0.id), $0) }, uniquingKeysWith: { first, _ in first })
        let before = model.keys
        let keys = state.results.map { key(of: $0.id) }
        // The results of another search: diffing them against the previous ones would be slow.
        if keys.first != before.first { model.apply([]) }
        model.apply(keys)
        for (row, key) in bound.values {
            if let result = key.flatMap({ byKey[$0] }) { row.show(result) }
        }
        // Scroll to the top for a new search.
        if model.keys.first != before.first {
            list.selectedIndex = nil
            scroller.verticalAdjustment.value = 0
        }
        let problem = SearchText(.desktop).text(for: state.problems, state.error)
        hint.text = problem.isEmpty ? SearchText(.desktop).filters : problem
        hint.isVisible = !problem.isEmpty || state.isUnasked
        hint.setStyle("error", !problem.isEmpty)
        hint.setStyle("dim-label", problem.isEmpty)
        retry.isVisible = state.canRetry
        field.widget.setStyle("error", !problem.isEmpty)
        nothing.isVisible = state.hasNoResults
        scroller.isVisible = !state.hasNoResults
    }

    private func key(of id: SearchResult.ID) -> String { id.room.rawValue + "\u{1F}" + id.message.rawValue }

    private func makeRow() -> Widget {
        let row = SearchResultRow()
        // Capture phase: the list's own gesture would only select the row.
        let click = ClickGesture(phase: .capture)
        click.onPress { $0.claim() }
        click.onRelease { [weak self, weak widget = row.widget] _ in
            guard let self, let widget, let key = self.bound[widget.identity]?.key,
                let index = self.model.keys.firstIndex(of: key)
            else { return }
            self.list.selectedIndex = index
            self.choose(index)
        }
        row.widget.addController(click)
        bound[row.widget.identity] = (row, nil)
        return row.widget
    }

    private func bind(_ widget: Widget, _ key: String) {
        bound[widget.identity]?.key = key
        if let result = byKey[key] { bound[widget.identity]?.row.show(result) }
    }

    // MARK: Input

    private func choose(_ index: Int) {
        // Ignore results of an older query. The rows may still be those before a change, and the user saw them.
        guard viewModel.state.isCurrent, model.keys.indices.contains(index), let result = byKey[model.keys[index]]
        else { return }
        viewModel.send(.choose(result.id))
        onChoose?()
    }

    private func enterList() {
        guard !viewModel.state.results.isEmpty else { return }
        if list.selectedIndex == nil { list.selectedIndex = 0 }
        list.grabFocus()
    }

    private func addListKeys() {
        let keys = KeyController(.capture)
        keys.onPress { [weak self] key in
            guard let self else { return false }
            switch key.key {
            case GDK_KEY_Escape: self.close()
            case GDK_KEY_Up where self.list.selectedIndex ?? 0 == 0: self.field.grabFocus()
            default: return false
            }
            return true
        }
        list.addController(keys)
    }

    /// How close to the end of the list scrolling loads more results, in pixels.
    private static let margin = 600.0

    private func loadIfNear() {
        let adjustment = scroller.verticalAdjustment
        if adjustment.upper - adjustment.value - adjustment.pageSize < Self.margin { viewModel.send(.loadMore) }
    }

    // MARK: Building

    private func build() {
        let top = Box(.vertical, spacing: 6)
        top.addStyle("parlance-search")
        top.append(field.widget)
        hint.addStyle("caption")
        hint.xalign = 0
        hint.wrap = true
        // Keeps the pane as narrow as the room list.
        hint.maxWidthChars = 28
        top.append(hint)
        retry.addStyle("flat")
        retry.halign = .start
        top.append(retry)
        nothing.addStyle("compact")
        nothing.vexpand = true
        list.addStyle("navigation-sidebar")
        list.setAccessibleLabel(translated("Search results"))
        for child in [top, scroller, nothing] as [Widget] { widget.append(child) }
        widget.isVisible = false
    }
}
