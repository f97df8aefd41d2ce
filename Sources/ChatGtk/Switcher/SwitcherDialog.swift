import CGtk
import ChatCore
import ChatViewModels
import GtkKit
import MediaGtk

/// Opens a room by name: a search field with the matches below. The field keeps the focus while the arrow keys move the
/// selection.
final class SwitcherDialog {
    let widget = Dialog(title: translated("Switch Room"), width: 400, height: 480)
    let field = SearchField(label: translated("Switch room"))
    let list = ListView()
    private let viewModel: SwitcherViewModel
    private let avatars: @MainActor (String) -> AvatarLoader?
    private let onChoose: @MainActor (AccountRoom) -> Void
    private let scroller: ScrolledWindow
    private let nothing = StatusPage(title: translated("No Rooms Found"), iconName: "edit-find-symbolic")
    private let model = KeyListModel()
    private var byKey: [String: SwitcherViewModel.Row] = [:]
    private var bound: [ObjectIdentity: (row: RoomRow, key: String?)] = [:]
    private var rendering: Rendering?
    private var choosing: Rendering?
    private var isRendering = false
    /// The maximum number of rows with widgets. GtkListView creates widgets for its first 200 rows at once, which would
    /// delay the first frame by rows that are out of view. They are added in steps afterwards.
    private var rowLimit = SwitcherDialog.rowsOfAStep
    private var firstFrame: SignalConnection?
    private var adding: Task<Void, Never>?

    /// The number of rows that fit into the dialog.
    private static let rowsOfAStep = 8

    /// Presents the switcher, which retains itself until it is closed.
    /// - Parameters:
    ///   - avatars: returns the avatar loader of an account.
    ///   - onChoose: called once a room was chosen and is being opened.
    @discardableResult
    static func present(
        _ viewModel: SwitcherViewModel, over parent: Widget, avatars: @escaping @MainActor (String) -> AvatarLoader?,
        onChoose: @escaping @MainActor (AccountRoom) -> Void
    ) -> SwitcherDialog {
        let switcher = SwitcherDialog(viewModel, avatars: avatars, onChoose: onChoose)
        switcher.widget.retain([switcher])
        switcher.widget.present(over: parent)
        switcher.field.grabFocus()
        switcher.addRowsWhenIdle()
        return switcher
    }

    /// Presents the switcher over the rooms of all accounts.
    /// - Parameter text: the initial search text.
    static func present(
        _ accounts: AccountsCoordinator, searching text: String = "", over parent: Widget,
        onChoose: @escaping @MainActor (AccountRoom) -> Void
    ) {
        let loaders = accounts.media.mapValues { AvatarLoader(service: $0) }
        let viewModel = accounts.switcher()
        if !text.isEmpty { viewModel.send(.type(text)) }
        present(viewModel, over: parent, avatars: { loaders[$0] }, onChoose: onChoose)
    }

    private init(
        _ viewModel: SwitcherViewModel, avatars: @escaping @MainActor (String) -> AvatarLoader?,
        onChoose: @escaping @MainActor (AccountRoom) -> Void
    ) {
        self.viewModel = viewModel
        self.avatars = avatars
        self.onChoose = onChoose
        scroller = ScrolledWindow(list)
        build()
        field.show(viewModel.state.query)
        field.onType = { [weak viewModel] in viewModel?.send(.type($0)) }
        field.onReturn = { [weak viewModel] _ in viewModel?.send(.choose) }
        field.onEscape = { [weak self] in self?.widget.close() }
        addKeys()
        list.setUp(
            model, make: { [weak self] in self?.makeRow() ?? Label() },
            bind: { [weak self] widget, key in self?.bind(widget, key) },
            unbind: { [weak self] widget, _ in self?.bound[widget.identity]?.key = nil },
            teardown: { [weak self] in self?.bound[$0.identity] = nil })
        list.onSelectionChange { [weak self] in
            guard let self, !isRendering, let index = list.selectedIndex else { return }
            self.viewModel.send(.select(index))
        }
        list.onActivate { [weak viewModel] in viewModel?.send(.open($0)) }
        rendering = Rendering({ [viewModel] in viewModel.state }, { [weak self] in self?.render($0) })
        choosing = Rendering({ [viewModel] in viewModel.state.chosen }, { [weak self] in self?.finish($0) })
    }

    private func build() {
        let header = HeaderBar()
        header.addStyle("flat")
        header.titleWidget = field.widget
        scroller.vexpand = true
        nothing.addStyle("compact")
        nothing.vexpand = true
        for style in ["navigation-sidebar", "room-list"] { list.addStyle(style) }
        list.setAccessibleLabel(translated("Rooms"))
        let content = Box(.vertical)
        for child in [header, scroller, nothing] as [Widget] { content.append(child) }
        widget.setContent(content)
    }

    private func addKeys() {
        let keys = KeyController(.capture)
        keys.onPress { [weak self] key in
            guard let self, key.modifiers.isDisjoint(with: [.control, .alt, .shift]) else { return false }
            switch key.key {
            case GDK_KEY_Down, GDK_KEY_KP_Down: viewModel.send(.move(1))
            case GDK_KEY_Up, GDK_KEY_KP_Up: viewModel.send(.move(-1))
            case GDK_KEY_Page_Down, GDK_KEY_KP_Page_Down: viewModel.send(.move(8))
            case GDK_KEY_Page_Up, GDK_KEY_KP_Page_Up: viewModel.send(.move(-8))
            default: return false
            }
            return true
        }
        field.widget.addController(keys)
    }

    private func finish(_ chosen: AccountRoom?) {
        guard let chosen else { return }
        widget.close()
        onChoose(chosen)
    }

    // MARK: Rendering

    private func render(_ state: SwitcherViewModel.State) {
        isRendering = true
        defer { isRendering = false }
        let rows = state.rows.prefix(rowLimit)
        let keys = rows.map { Self.key(of: $0.id) }
        byKey = Dictionary(zip(keys, rows), uniquingKeysWith: { first, _ in first })
        model.apply(keys)
        let selection = state.selection.flatMap { keys.indices.contains($0) ? $0 : nil }
        list.selectedIndex = selection
        if let selection { list.activateAction("list.scroll-to-item", index: selection) }
        nothing.isVisible = state.hasNoMatches
        scroller.isVisible = !state.hasNoMatches
    }

    /// Adds the remaining rows after the first frame, when idle.
    private func addRowsWhenIdle() {
        firstFrame = widget.frameClock?.connect("after-paint") { [weak self] _ in
            guard let self else { return }
            stopWaiting()
            adding = Task { [weak self] in
                while let self, !Task.isCancelled, rowLimit < SwitcherViewModel.maxRows {
                    await MainLoop.idle()
                    rowLimit += Self.rowsOfAStep
                    if !Task.isCancelled { render(viewModel.state) }
                }
            }
        }
        widget.onClosed { [weak self] in
            self?.stopWaiting()
            self?.adding?.cancel()
        }
    }

    private func stopWaiting() {
        firstFrame?.disconnect()
        firstFrame = nil
    }

    /// The number of rows that exist.
    var rowCount: Int { bound.count }

    private static func key(of id: SwitcherViewModel.Row.ID) -> String { id.account + "\u{1F}" + id.room.rawValue }

    private func makeRow() -> Widget {
        let row = RoomRow()
        bound[row.widget.identity] = (row, nil)
        return row.widget
    }

    private func bind(_ widget: Widget, _ key: String) {
        bound[widget.identity]?.key = key
        guard let row = byKey[key] else { return }
        bound[widget.identity]?.row.show(row.room, isInView: false, avatars(row.id.account))
    }
}
