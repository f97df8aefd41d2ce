import CGtk
import ChatCore
import ChatViewModels
import GtkKit

/// The search in all rooms, which replaces the room list: a field and its results.
final class SearchPane {
    let widget: Widget
    /// Called to restore the focus when the search closes.
    var onClose: (() -> Void)?
    /// Called when the user chooses a result.
    var onChoose: (() -> Void)?

    let field = SearchField(label: translated("Search in all rooms"))
    let list = ListView(sinking: gtk_list_view_new(nil, nil))
    private var viewModel: SearchViewModel
    private let scroller = ScrolledWindow(sinking: gtk_scrolled_window_new())
    private let hint = Label()
    private let nothing = Widget(sinking: adw_status_page_new())
    private let model = KeyListModel()
    private var byKey: [String: SearchResult] = [:]
    private var bound: [UnsafeMutableRawPointer: (row: SearchResultRow, key: String?)] = [:]
    private var rendering: Rendering?

    init(viewModel: SearchViewModel) {
        self.viewModel = viewModel
        widget = Box(.vertical)
        build()
        field.onType = { [weak self] in self?.viewModel.send(.field(.type($0))) }
        field.onReturn = { [weak self] _ in self?.choose(self?.list.selectedIndex ?? 0) }
        field.onDown = { [weak self] in self?.enterList() }
        field.onEscape = { [weak self] in self?.close() }
        list.setUp(
            model, make: { [weak self] in self?.makeRow() ?? Label() },
            bind: { [weak self] widget, key in self?.bind(widget, key) },
            unbind: { [weak self] widget, _ in self?.bound[widget.pointer]?.key = nil })
        list.connect("activate") { [weak self] arguments in self?.choose(Int(arguments.uint(0))) }
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
        rendering = Rendering({ [viewModel] in viewModel.state }, { [weak self] in self?.render($0) })
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
        field.widget.setStyle("error", !problem.isEmpty)
        nothing.isVisible = state.hasNoResults
        scroller.isVisible = !state.hasNoResults
    }

    private func key(of id: SearchResult.ID) -> String { id.room.rawValue + "\u{1F}" + id.message.rawValue }

    private func makeRow() -> Widget {
        let row = SearchResultRow()
        let click = Object(owning: UnsafeMutableRawPointer(gtk_gesture_click_new()))
        // Capture phase: the list's own gesture would only select the row.
        gtk_event_controller_set_propagation_phase(click.cast(), GTK_PHASE_CAPTURE)
        click.connect("pressed") { [weak click] _ in
            if let click { gtk_gesture_set_state(click.cast(), GTK_EVENT_SEQUENCE_CLAIMED) }
        }
        click.connect("released") { [weak self, weak widget = row.widget] _ in
            guard let self, let widget, let key = self.bound[widget.pointer]?.key,
                let index = self.model.keys.firstIndex(of: key)
            else { return }
            self.list.selectedIndex = index
            self.choose(index)
        }
        row.widget.addController(click)
        bound[row.widget.pointer] = (row, nil)
        return row.widget
    }

    private func bind(_ widget: Widget, _ key: String) {
        bound[widget.pointer]?.key = key
        if let result = byKey[key] { bound[widget.pointer]?.row.show(result) }
    }

    // MARK: Input

    private func choose(_ index: Int) {
        // Ignore results of an older query.
        guard viewModel.state.isCurrent, viewModel.state.results.indices.contains(index) else { return }
        viewModel.send(.choose(viewModel.state.results[index].id))
        onChoose?()
    }

    private func enterList() {
        guard !viewModel.state.results.isEmpty else { return }
        if list.selectedIndex == nil { list.selectedIndex = 0 }
        list.grabFocus()
    }

    private func addListKeys() {
        let keys = Object(owning: UnsafeMutableRawPointer(gtk_event_controller_key_new()))
        gtk_event_controller_set_propagation_phase(keys.cast(), GTK_PHASE_CAPTURE)
        keys.intercept("key-pressed") { [weak self] arguments in
            guard let self else { return false }
            switch Int32(bitPattern: arguments.uint(0)) {
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
        gtk_label_set_xalign(hint.cast(), 0)
        gtk_label_set_wrap(hint.cast(), 1)
        // Keeps the pane as narrow as the room list.
        gtk_label_set_max_width_chars(hint.cast(), 28)
        top.append(hint)
        nothing.addStyle("compact")
        nothing.setProperty("title", translated("No Messages Found"))
        nothing.setProperty("icon-name", "edit-find-symbolic")
        gtk_widget_set_vexpand(nothing.cast(), 1)
        list.addStyle("navigation-sidebar")
        list.setAccessibleLabel(translated("Messages found"))
        gtk_scrolled_window_set_policy(scroller.cast(), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        gtk_widget_set_vexpand(scroller.cast(), 1)
        scroller.setChild(list)
        for child in [top, scroller, nothing] as [Widget] { gtk_box_append(widget.cast(), child.cast()) }
        widget.isVisible = false
    }
}
