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

    private var viewModel: RoomListViewModel
    private var avatarLoader: AvatarLoader
    private let list: ListView
    private let stack: Stack
    /// The parent of the stack, which the menu is attached to.
    private let pane: Widget
    private let model = KeyListModel()
    private var byKey: [String: RoomListViewModel.Row] = [:]
    private var selected: Int?
    private var bound: [UnsafeMutableRawPointer: (row: RoomRow, key: String?)] = [:]
    private var rendering: Rendering?
    private var isRendering = false
    private let menu: PopoverMenu
    private let focus = FocusRestorer()
    private let actions = ActionGroup()
    private var menuRoom: RoomID?

    init(viewModel: RoomListViewModel, list: ListView, stack: Stack, avatarLoader: AvatarLoader) {
        self.viewModel = viewModel
        self.avatarLoader = avatarLoader
        self.list = list
        self.stack = stack
        let builder = Builder(resource: Resource.ui("room-menu"))
        pane = gtk_widget_get_parent(stack.cast()).map { Widget(borrowing: $0) } ?? list
        menu = PopoverMenu(model: builder["menu", Object.self], parent: pane)
        menu.connect("closed") { [weak self] _ in self?.focus.restore() }
        list.setUp(
            model, make: { [weak self] in self?.makeRow() ?? Label() },
            bind: { [weak self] widget, key in self?.bind(widget, key) },
            unbind: { [weak self] widget, _ in self?.bound[widget.pointer]?.key = nil },
            isSelectable: { SectionTitle(key: $0) == nil })
        list.onSelectionChange { [weak self] in self?.selectionChanged() }
        list.connect("activate") { [weak self] _ in self?.onActivate?() }
        addPointer()
        addKeys()
        actions.add("details") { [weak self] in self?.menuRoom.map { self?.onDetails?($0) } }
        actions.add("leave") { [weak self] in self?.menuRoom.map { self?.onLeave?($0) } }
        pane.insertActions(actions, prefix: "room")
        show(viewModel, avatarLoader)
    }

    /// Switches to the rooms of another account.
    func show(_ viewModel: RoomListViewModel, _ avatarLoader: AvatarLoader) {
        self.viewModel = viewModel
        self.avatarLoader = avatarLoader
        rendering = Rendering({ [viewModel] in viewModel.state }, { [weak self] in self?.render($0) })
    }

    isolated deinit {
        if gtk_widget_get_parent(menu.cast()) != nil { gtk_widget_unparent(menu.cast()) }
    }

    func grabFocus() {
        list.grabFocus()
        // Section titles must not get the focus.
        guard let focused = focusedRow, SectionTitle(key: model.keys[focused]) != nil else { return }
        let first = model.keys.firstIndex { SectionTitle(key: $0) == nil }
        if let index = selected ?? first { focusRow(at: index) }
    }

    /// Moves between rooms with the arrow keys; GTK's own bindings would stop at section titles.
    private func addKeys() {
        let keys = Object(owning: UnsafeMutableRawPointer(gtk_event_controller_key_new()))
        gtk_event_controller_set_propagation_phase(keys.cast(), GTK_PHASE_CAPTURE)
        keys.intercept("key-pressed") { [weak self] arguments in
            self?.handle(key: arguments.uint(0), modifiers: arguments.flags(2)) ?? false
        }
        list.addController(keys)
    }

    private func handle(key: UInt32, modifiers: UInt32) -> Bool {
        let others = GDK_SHIFT_MASK.rawValue | GDK_CONTROL_MASK.rawValue | GDK_ALT_MASK.rawValue
        guard modifiers & others == 0 else { return false }
        let rows = model.keys.indices.filter { SectionTitle(key: model.keys[$0]) == nil }
        guard rows.count < model.keys.count else { return false }
        let current = focusedRow ?? selected ?? -1
        let next: Int?
        switch Int32(bitPattern: key) {
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
        guard let root = gtk_widget_get_root(list.cast()), let focus = gtk_root_get_focus(root) else { return nil }
        let key = bound.values.first { row, _ in
            IndexedList.item(of: row.widget).pointer == UnsafeMutableRawPointer(focus)
        }?.key
        return key.flatMap { model.keys.firstIndex(of: $0) }
    }

    private func focusRow(at index: Int) {
        guard model.keys.indices.contains(index) else { return }
        let key = model.keys[index]
        guard let row = bound.values.first(where: { $0.key == key }) else { return }
        IndexedList.item(of: row.row.widget).grabFocus()
    }

    // MARK: Rendering

    private func render(_ state: RoomListViewModel.State) {
        isRendering = true
        defer { isRendering = false }
        let sections = state.sections
        // A single section of rooms needs no title.
        let hasTitles = sections.count > 1 || sections.first?.kind == .invitations
        byKey = Dictionary(
            sections.flatMap(\.rows).map { ($0.id.rawValue, $0) }, uniquingKeysWith: { _, last in last })
        var keys: [String] = []
        for section in sections {
            if hasTitles { keys.append(SectionTitle(section.kind).key) }
            keys += section.rows.map(\.id.rawValue)
        }
        model.apply(keys)
        for (row, key) in bound.values {
            if let item = key.flatMap({ byKey[$0] }) { row.show(item, avatarLoader) }
        }
        selected = state.selection.flatMap { keys.firstIndex(of: $0.rawValue) }
        if list.selectedIndex != selected { list.selectedIndex = selected }
        stack.visibleChild = state.isEmpty ? "empty" : "rooms"
    }

    private func makeRow() -> Widget {
        let row = RoomRow()
        bound[row.widget.pointer] = (row, nil)
        return row.widget
    }

    private func bind(_ widget: Widget, _ key: String) {
        bound[widget.pointer]?.key = key
        if let title = SectionTitle(key: key) {
            bound[widget.pointer]?.row.show(title)
        } else if let row = byKey[key] {
            bound[widget.pointer]?.row.show(row, avatarLoader)
        }
    }

    // MARK: Input

    private func selectionChanged() {
        guard !isRendering, let index = list.selectedIndex, model.keys.indices.contains(index) else { return }
        if SectionTitle(key: model.keys[index]) == nil { viewModel.send(.select(RoomID(model.keys[index]))) }
    }

    private func addPointer() {
        let click = Object(owning: UnsafeMutableRawPointer(gtk_gesture_click_new()))
        gtk_gesture_single_set_button(click.cast(), guint(GDK_BUTTON_PRIMARY))
        click.connect("released") { [weak self] arguments in
            if self?.key(at: arguments.double(2)) != nil { self?.onActivate?() }
        }
        list.addController(click)
        let secondary = Object(owning: UnsafeMutableRawPointer(gtk_gesture_click_new()))
        gtk_gesture_single_set_button(secondary.cast(), guint(GDK_BUTTON_SECONDARY))
        secondary.connect("pressed") { [weak self] arguments in
            self?.openMenu(x: arguments.double(1), y: arguments.double(2))
        }
        list.addController(secondary)
    }

    /// Returns the key of the room or invitation at a vertical position in the list.
    private func key(at y: Double) -> String? {
        bound.values.first { row, key in
            guard let key, SectionTitle(key: key) == nil, let bounds = row.widget.bounds(in: list) else { return false }
            return y >= bounds.y - 6 && y < bounds.y + bounds.height + 6
        }?.key
    }

    private func openMenu(x: Double, y: Double) {
        guard let key = key(at: y), byKey[key]?.isInvitation == false else { return }
        menuRoom = RoomID(key)
        var (menuX, menuY) = (0.0, 0.0)
        shim_translate(list.pointer, pane.pointer, x, y, &menuX, &menuY)
        focus.save(around: pane)
        menu.popUp(x: menuX, y: menuY)
    }
}
