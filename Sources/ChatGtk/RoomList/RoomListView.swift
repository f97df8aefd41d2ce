import CGtk
import ChatCore
import ChatViewModels
import GtkKit
import MediaGtk

/// The room list.
final class RoomListView {
    /// Called when the user activates a room by pointer or keyboard, even if it is already open.
    var onActivate: (() -> Void)?
    var onDetails: ((RoomID) -> Void)?
    var onLeave: ((RoomID) -> Void)?
    /// Called to open a room in its own window.
    var onOpenWindow: ((RoomID) -> Void)?

    private var viewModel: RoomListViewModel
    private var avatarLoader: AvatarLoader
    private let list: ListView
    private let stack: Stack
    /// The parent of the stack, which the menu is attached to.
    private let pane: Widget
    private let model = KeyListModel()
    /// The state that the list shows.
    private var shown: RoomListViewModel.State?
    private var byKey: [String: RoomListViewModel.Row] = [:]
    private var selected: Int?
    private var bound: [ObjectIdentity: (row: RoomRow, key: String?)] = [:]
    private let filling: RoomRowFilling
    private var rendering: Rendering?
    private let dateText: DateText
    private var isRendering = false
    /// Whether the open room is on another page.
    private var isFolded = false
    /// The rooms whose messages are visible to the user.
    private var seen = SeenRooms()
    /// Made when it is first opened.
    private var menu: PopoverMenu?
    private lazy var focus = FocusRestorer(rows: self)
    private var focusMoves: SignalConnection?
    private let actions = ActionGroup()
    private var menuRoom: RoomID?
    private lazy var markRead = actions.add("mark-read") { [weak self] in self?.mark(.markRead) }
    private lazy var markUnread = actions.add("mark-unread") { [weak self] in self?.mark(.markUnread) }

    /// - Parameter height: The height in pixels at which the list is first shown, or `nil` if it is not known.
    init(
        viewModel: RoomListViewModel, list: ListView, stack: Stack, avatarLoader: AvatarLoader,
        dateText: DateText = .desktop, height: Int? = nil
    ) {
        self.viewModel = viewModel
        self.dateText = dateText
        self.avatarLoader = avatarLoader
        self.list = list
        self.stack = stack
        pane = stack.parent ?? list
        filling = RoomRowFilling(height: height)
        list.setUp(
            model, make: { [weak self] in self?.makeRow() ?? Label() },
            bind: { [weak self] widget, key in self?.bind(widget, key) },
            unbind: { [weak self] widget, _ in self?.bound[widget.identity]?.key = nil },
            teardown: { [weak self] in self?.bound[$0.identity] = nil },
            isSelectable: { SectionTitle(key: $0) == nil })
        filling.onFill = { [weak self] in self?.fill($0) }
        list.onMap { [weak self, weak list] _ in
            list?.afterNextFrame { self?.filling.listWasDrawn() }
            self?.followFocus()
        }
        list.onSelectionChange { [weak self] in self?.selectionChanged() }
        list.onActivate { [weak self] in self?.activate($0) }
        addPointer()
        addKeys()
        actions.add("open-window") { [weak self] in self?.menuRoom.map { self?.onOpenWindow?($0) } }
        actions.add("details") { [weak self] in self?.menuRoom.map { self?.onDetails?($0) } }
        actions.add("leave") { [weak self] in self?.menuRoom.map { self?.onLeave?($0) } }
        for action in [markRead, markUnread] { action.isEnabled = false }
        pane.insertActions(actions, prefix: "room")
        show(viewModel, avatarLoader)
    }

    /// Switches to the rooms of another account.
    func show(_ viewModel: RoomListViewModel, _ avatarLoader: AvatarLoader) {
        self.viewModel = viewModel
        self.avatarLoader = avatarLoader
        // The rooms of another account: diffing them against the previous ones would be slow.
        model.apply([])
        (shown, byKey, selected) = (nil, [:], nil)
        rendering = Rendering({ [viewModel] in Timed(viewModel.state) }, { [weak self] in self?.render($0.state) })
    }

    isolated deinit {
        menu?.unparent()
    }

    func grabFocus() {
        list.grabFocus()
        // Section titles must not get the focus. Where the first row is one, GTK leaves it to the list.
        if let focused = focusedRow, SectionTitle(key: model.keys[focused]) == nil { return }
        let first = model.keys.firstIndex { SectionTitle(key: $0) == nil }
        if let index = selected ?? first { focusRow(at: index) }
    }

    /// Lets Tab lead into the list: if the first row is a section title, GTK gives the focus to what scrolls the list.
    private func followFocus() {
        guard focusMoves == nil else { return }
        focusMoves = list.root?.onFocusMove { [weak self] in
            if let self, list.parent?.isFocus == true { grabFocus() }
        }
    }

    /// Moves between rooms with the arrow keys; GTK's own bindings would stop at section titles.
    private func addKeys() {
        let keys = KeyController(.capture)
        keys.onPress { [weak self] key in
            self?.handle(key) ?? false
        }
        list.addController(keys)
    }

    private func handle(_ key: KeyPress) -> Bool {
        let opensMenu = key.key == GDK_KEY_Menu || key.key == GDK_KEY_F10 && key.modifiers.contains(.shift)
        if opensMenu { return openMenuOfFocusedRow() }
        if key.modifiers.contains(.control), key.modifiers.isDisjoint(with: [.shift, .alt]),
            [GDK_KEY_Return, GDK_KEY_KP_Enter].contains(key.key)
        {
            return openWindowOfFocusedRow()
        }
        guard key.modifiers.isDisjoint(with: [.shift, .control, .alt]) else { return false }
        let rows = model.keys.indices.filter { SectionTitle(key: model.keys[$0]) == nil }
        guard rows.count < model.keys.count else { return false }
        let current = focusedRow ?? selected ?? -1
        let next: Int?
        switch key.key {
        case GDK_KEY_Up, GDK_KEY_KP_Up: next = rows.last { $0 < current }
        case GDK_KEY_Down, GDK_KEY_KP_Down: next = rows.first { $0 > current }
        case GDK_KEY_Home, GDK_KEY_KP_Home: next = rows.first
        case GDK_KEY_End, GDK_KEY_KP_End: next = rows.last
        default: return false
        }
        // Consume the key at the end of the list: GTK would move on to a section title.
        guard let next else { return true }
        list.activateAction("list.scroll-to-item", index: next)
        focusRow(at: next)
        list.selectedIndex = next
        return true
    }

    private var focusedRow: Int? {
        list.root?.focus.flatMap(key(of:)).flatMap { model.keys.firstIndex(of: $0) }
    }

    /// The key of the row that is this widget of the list.
    private func key(of item: Widget) -> String? {
        guard list.isAncestor(of: item) else { return nil }
        return bound.values.first { row, _ in IndexedList.item(of: row.widget).isSame(as: item) }?.key
    }

    private func focusRow(at index: Int) {
        guard model.keys.indices.contains(index) else { return }
        let key = model.keys[index]
        guard let row = bound.values.first(where: { $0.key == key }) else { return }
        IndexedList.item(of: row.row.widget).grabFocus()
    }

    // MARK: Rendering

    /// A message or a letter changes what one row shows; in an account with thousands of rooms, arranging all of them
    /// takes longer than a frame.
    private func render(_ state: RoomListViewModel.State) {
        isRendering = true
        defer { isRendering = false }
        if let shown, state.isArranged(as: shown) {
            for (row, before) in zip(state.rows, shown.rows) where row != before { byKey[row.id.rawValue] = row }
            showRows()
            if state.selection != shown.selection { select(state.selection) }
        } else {
            let focusedKey = focusedRow.map { model.keys[$0] }
            arrange(state)
            showRows()
            select(state.selection)
            restoreFocus(to: focusedKey)
        }
        if list.selectedIndex != selected { list.selectedIndex = selected }
        shown = state
        stack.visibleChild = state.isEmpty ? "empty" : "rooms"
    }

    /// Puts the rooms into their sections and order. Takes time proportional to their number.
    private func arrange(_ state: RoomListViewModel.State) {
        arrangementCount += 1
        let sections = state.sections
        let hasTitles = state.hasSectionTitles
        byKey = Dictionary(
            sections.flatMap(\.rows).map { ($0.id.rawValue, $0) }, uniquingKeysWith: { _, last in last })
        var keys: [String] = []
        for section in sections {
            if hasTitles { keys.append(SectionTitle(section.kind).key) }
            keys += section.rows.map(\.id.rawValue)
        }
        model.apply(keys)
    }

    private func showRows() {
        for (row, key) in bound.values {
            if let item = key.flatMap({ byKey[$0] }) { show(item, in: row) }
        }
    }

    private func select(_ room: RoomID?) { selected = room.flatMap { model.keys.firstIndex(of: $0.rawValue) } }

    /// Focuses a room again that has moved: its row is another one now, and GTK has dropped the one with the focus.
    private func restoreFocus(to key: String?) {
        guard let key, focusedRow.map({ model.keys[$0] }) != key, let index = model.keys.firstIndex(of: key) else {
            return
        }
        focusRow(at: index)
    }

    /// The number of rows that exist.
    var rowCount: Int { bound.count }
    /// The number of times that the rooms were put into their sections and order.
    private(set) var arrangementCount = 0
    /// The number of times that the widgets of a row were set.
    var renderCount: Int { bound.values.reduce(0) { $0 + $1.row.renderCount } }

    private func makeRow() -> Widget {
        let row = RoomRow(dateText: dateText)
        bound[row.widget.identity] = (row, nil)
        return row.widget
    }

    private func bind(_ widget: Widget, _ key: String) {
        bound[widget.identity]?.key = key
        fill(widget)
    }

    private func fill(_ widget: Widget) {
        guard let (view, key) = bound[widget.identity], let key else { return }
        if let title = SectionTitle(key: key) {
            view.show(title)
        } else if let row = byKey[key] {
            show(row, in: view)
        }
    }

    private func show(_ row: RoomListViewModel.Row, in view: RoomRow) {
        guard !filling.defers(view.widget) else { return }
        let isSelectionInView = seen.isSelectionSeen && !isFolded && row.id == viewModel.state.selection
        view.show(row, isInView: isSelectionInView || row.id == seen.inWindow, avatarLoader)
    }

    /// Shows the badge of the open room while its messages are on another page.
    func show(isFolded: Bool) {
        guard isFolded != self.isFolded else { return }
        self.isFolded = isFolded
        render(viewModel.state)
    }

    /// Hides the badges of rooms while their messages are visible in an active window.
    func show(_ seen: SeenRooms) {
        guard seen != self.seen else { return }
        self.seen = seen
        render(viewModel.state)
    }

    // MARK: Input

    private func selectionChanged() {
        guard !isRendering, let index = list.selectedIndex, model.keys.indices.contains(index) else { return }
        if SectionTitle(key: model.keys[index]) == nil { viewModel.send(.select(RoomID(model.keys[index]))) }
    }

    /// Opens the activated room: moving the focus with Ctrl and an arrow key selects nothing.
    private func activate(_ index: Int) {
        guard model.keys.indices.contains(index), SectionTitle(key: model.keys[index]) == nil else { return }
        viewModel.send(.select(RoomID(model.keys[index])))
        onActivate?()
    }

    private func addPointer() {
        let click = ClickGesture()
        click.onRelease { [weak self] event in
            guard let self, let key = key(at: event.y) else { return }
            // The pointer, or the room, may have moved since the press, which has selected a room.
            if let index = list.selectedIndex, model.keys[index] == key { activate(index) } else { onActivate?() }
        }
        list.addController(click)
        let secondary = ClickGesture(.secondary)
        secondary.onPress { [weak self] in self?.openMenu(x: $0.x, y: $0.y) }
        list.addController(secondary)
        let press = LongPressGesture()
        press.isTouchOnly = true
        press.onPress { [weak self] in
            // Otherwise, the release would also open the room.
            if self?.openMenu(x: $0.x, y: $0.y) == true { $0.claim() }
        }
        list.addController(press)
    }

    /// Returns the key of the room or invitation at a vertical position in the list.
    private func key(at y: Double) -> String? {
        bound.values.first { row, key in
            guard let key, SectionTitle(key: key) == nil, let bounds = row.widget.bounds(in: list) else { return false }
            return y >= bounds.y - 6 && y < bounds.y + bounds.height + 6
        }?.key
    }

    @discardableResult
    private func openMenu(x: Double, y: Double) -> Bool { openMenu(of: key(at: y), at: list, x: x, y: y) }

    private func openWindowOfFocusedRow() -> Bool {
        guard let focusedRow, model.keys.indices.contains(focusedRow), let row = byKey[model.keys[focusedRow]],
            !row.isInvitation
        else { return false }
        onOpenWindow?(row.id)
        return true
    }

    private func openMenuOfFocusedRow() -> Bool {
        guard let focusedRow, model.keys.indices.contains(focusedRow) else { return false }
        let key = model.keys[focusedRow]
        guard let widget = bound.values.first(where: { $0.key == key })?.row.widget else { return false }
        return openMenu(of: key, at: widget, x: Double(widget.width) / 2, y: Double(widget.height) / 2)
    }

    /// Opens the menu of a room, at a position in a widget's coordinates.
    /// - Returns: `false` if the row has no menu.
    private func openMenu(of key: String?, at widget: Widget, x: Double, y: Double) -> Bool {
        // Not the row as it is shown: what the user has just changed is shown a little later.
        guard let key, let row = viewModel.state.rows.first(where: { $0.id.rawValue == key }), !row.isInvitation else {
            return false
        }
        menuRoom = RoomID(key)
        markRead.isEnabled = row.isUnread
        markUnread.isEnabled = !row.isUnread
        let position = widget.translate(x: x, y: y, to: pane) ?? (0, 0)
        focus.save(around: pane)
        let menu = menu ?? makeMenu()
        menu.popUp(x: position.x, y: position.y)
        return true
    }

    private func makeMenu() -> PopoverMenu {
        let menu = PopoverMenu(
            model: Builder(resource: Resource.ui("room-menu"))["menu", Object.self], parent: pane)
        menu.onClose { [weak self] in self?.focus.restore() }
        self.menu = menu
        return menu
    }

    private func mark(_ action: RoomListViewModel.ReadingAction) {
        if let menuRoom { viewModel.send(.reading(menuRoom, action)) }
    }
}

extension RoomListView: RecycledRows {
    func key(ofRowWith widget: Widget) -> AnyHashable? { key(of: widget).map { AnyHashable($0) } }

    func focusRow(with key: AnyHashable) {
        if let index = model.keys.firstIndex(where: { $0 == key.base as? String }) {
            focusRow(at: index)
        } else {
            grabFocus()
        }
    }
}
