import CGtk
import ChatCore
import ChatViewModels
import GtkKit

/// The list of rooms.
final class RoomListView {
    /// The user chose a room by pointer or key, be it the one that is open already.
    var onActivate: (() -> Void)?
    var onDetails: ((RoomID) -> Void)?
    var onLeave: ((RoomID) -> Void)?

    private var viewModel: RoomListViewModel
    private var pictures: AvatarPictures
    private let list: ListView
    private let stack: Stack
    private let model = KeyListModel()
    private var byKey: [String: RoomListViewModel.Row] = [:]
    private var bound: [UnsafeMutableRawPointer: (row: RoomRow, key: String?)] = [:]
    private var rendering: Rendering?
    private var isRendering = false
    private let menu: PopoverMenu
    private let actions = ActionGroup()
    private var menuRoom: RoomID?

    init(viewModel: RoomListViewModel, list: ListView, stack: Stack, pictures: AvatarPictures) {
        self.viewModel = viewModel
        self.pictures = pictures
        self.list = list
        self.stack = stack
        let builder = Builder(resource: Resource.ui("room-menu"))
        menu = PopoverMenu(model: builder["menu", Object.self], parent: stack)
        list.setUp(
            model, make: { [weak self] in self?.makeRow() ?? Label() },
            bind: { [weak self] widget, key in self?.bind(widget, key) },
            unbind: { [weak self] widget, _ in self?.bound[widget.pointer]?.key = nil })
        list.onSelectionChange { [weak self] in self?.selectionChanged() }
        list.connect("activate") { [weak self] _ in self?.onActivate?() }
        addPointer()
        actions.add("details") { [weak self] in self?.menuRoom.map { self?.onDetails?($0) } }
        actions.add("leave") { [weak self] in self?.menuRoom.map { self?.onLeave?($0) } }
        stack.insertActions(actions, prefix: "room")
        show(viewModel, pictures)
    }

    /// Shows other rooms in the place of these.
    func show(_ viewModel: RoomListViewModel, _ pictures: AvatarPictures) {
        self.viewModel = viewModel
        self.pictures = pictures
        rendering = Rendering({ [viewModel] in viewModel.state }, { [weak self] in self?.render($0) })
    }

    isolated deinit {
        if gtk_widget_get_parent(menu.cast()) != nil { gtk_widget_unparent(menu.cast()) }
    }

    func grabFocus() { list.grabFocus() }

    // MARK: Rendering

    private func render(_ state: RoomListViewModel.State) {
        isRendering = true
        defer { isRendering = false }
        byKey = Dictionary(state.rows.map { ($0.id.rawValue, $0) }, uniquingKeysWith: { first, _ in first })
        model.apply(state.rows.map(\.id.rawValue))
        for (row, key) in bound.values {
            if let shown = key.flatMap({ byKey[$0] }) { row.show(shown, pictures) }
        }
        let index = state.rows.firstIndex { $0.id == state.selection }
        if list.selectedIndex != index { list.selectedIndex = index }
        stack.visibleChild = state.isEmpty ? "empty" : "rooms"
    }

    private func makeRow() -> Widget {
        let row = RoomRow()
        bound[row.widget.pointer] = (row, nil)
        return row.widget
    }

    private func bind(_ widget: Widget, _ key: String) {
        bound[widget.pointer]?.key = key
        if let row = byKey[key] { bound[widget.pointer]?.row.show(row, pictures) }
    }

    // MARK: Input

    private func selectionChanged() {
        guard !isRendering, let index = list.selectedIndex, model.keys.indices.contains(index) else { return }
        viewModel.send(.select(RoomID(model.keys[index])))
    }

    private func addPointer() {
        let click = Object(owning: UnsafeMutableRawPointer(gtk_gesture_click_new()))
        gtk_gesture_single_set_button(click.cast(), guint(GDK_BUTTON_PRIMARY))
        click.connect("released") { [weak self] _ in self?.onActivate?() }
        list.addController(click)
        let secondary = Object(owning: UnsafeMutableRawPointer(gtk_gesture_click_new()))
        gtk_gesture_single_set_button(secondary.cast(), guint(GDK_BUTTON_SECONDARY))
        secondary.connect("pressed") { [weak self] arguments in
            self?.openMenu(x: arguments.double(1), y: arguments.double(2))
        }
        list.addController(secondary)
    }

    private func openMenu(x: Double, y: Double) {
        for (row, key) in bound.values {
            guard let key, let place = row.widget.bounds(in: list), y >= place.y - 6, y < place.y + place.height + 6
            else { continue }
            menuRoom = RoomID(key)
            var (menuX, menuY) = (0.0, 0.0)
            gtk_widget_translate_coordinates(list.cast(), stack.cast(), x, y, &menuX, &menuY)
            return menu.popUp(x: menuX, y: menuY)
        }
    }
}
