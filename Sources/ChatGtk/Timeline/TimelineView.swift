import CGtk
import ChatCore
import ChatViewModels
import GtkKit

/// The messages of one room in a scrolled window, with their menu.
final class TimelineView {
    let widget: Widget
    /// Whether the newest message is in view.
    var onPosition: ((_ isAtEnd: Bool) -> Void)?
    /// Asks for the focus to go to the composer.
    var onLeave: (() -> Void)?

    private let viewModel: TimelineViewModel
    private let scroller: ScrolledWindow
    private let box: TimelineBox
    private var rows: [TimelineItem.ID: any TimelineRow] = [:]
    private var order: [TimelineItem.ID] = []
    private var shown: [TimelineItem.ID: TimelineItem] = [:]
    private let menu: MessageMenu

    init(viewModel: TimelineViewModel, scroller: ScrolledWindow, menuParent: Widget) {
        self.viewModel = viewModel
        self.scroller = scroller
        let list = TimelineBox.make()
        guard let box = TimelineBox.of(list) else { fatalError("TimelineBox is not registered") }
        self.box = box
        widget = list
        menu = MessageMenu(parent: menuParent)
        list.setAccessibleLabel(translated("Messages"))
        scroller.setChild(list)
        box.onPositionChange = { [weak self] in self?.positionChanged() }
        menu.onEdit = { [weak viewModel] in viewModel?.send(.edit($0)) }
        menu.onDelete = { [weak viewModel] in viewModel?.send(.delete($0)) }
        addKeys()
        addPointer()
        viewModel.onEffect = { [weak self] in self?.carryOut($0) }
        render()
    }

    func scrollToEnd() { box.scrollToEnd() }

    /// Gives the focus to the newest row.
    func focusNewest() {
        guard let last = order.last(where: { if case .message = $0 { true } else { false } }), let row = rows[last]
        else { return }
        row.widget.grabFocus()
        box.reveal(row.widget)
    }

    // MARK: Rendering

    private func carryOut(_ effect: TimelineViewModel.Effect) {
        switch effect {
        case .changed, .replaced: render()
        case .revealNewest: box.scrollToEnd()
        case .reveal(let id): rows[id].map { box.reveal($0.widget) }
        case .restore(let place): rows[.message(place.message)].map { box.reveal($0.widget) }
        case .arrived: break
        }
    }

    private func render() {
        let items = viewModel.rows.filter { if case .more = $0 { false } else { true } }
        let ids = items.map(\.id)
        for item in items {
            if let row = rows[item.id] {
                if shown[item.id] != item { row.show(item) }
            } else {
                rows[item.id] = makeRow(item)
            }
            shown[item.id] = item
        }
        guard ids != order else { return }
        let kept = Set(ids)
        for id in order where !kept.contains(id) {
            rows[id] = nil
            shown[id] = nil
        }
        order = ids
        box.setRows(ids.compactMap { rows[$0]?.widget })
    }

    private func makeRow(_ item: TimelineItem) -> any TimelineRow {
        guard case .message(let message) = item else { return DividerRow(item) }
        return MessageRow(message) { [weak self] row in
            self?.menu.open(for: row.item, at: row.menuAnchor)
        }
    }

    private func positionChanged() {
        if box.isAtEnd, scroller.isMapped { viewModel.send(.scrolled(to: nil)) }
        // Two screens ahead of the reader.
        if box.distanceFromTop < 2 * Double(scroller.height) { viewModel.send(.load(.older)) }
        onPosition?(box.isAtEnd)
    }

    // MARK: Keys and pointer

    private func addKeys() {
        let keys = Object(owning: UnsafeMutableRawPointer(gtk_event_controller_key_new()))
        keys.intercept("key-pressed") { [weak self] arguments in
            self?.handleKey(Int32(bitPattern: arguments.uint(0)), GdkModifierType(arguments.flags(2))) ?? false
        }
        widget.addController(keys)
    }

    private func handleKey(_ key: Int32, _ modifiers: GdkModifierType) -> Bool {
        let control = modifiers.rawValue & GDK_CONTROL_MASK.rawValue != 0
        let shift = modifiers.rawValue & GDK_SHIFT_MASK.rawValue != 0
        switch key {
        case GDK_KEY_Up, GDK_KEY_KP_Up: moveFocus(by: -1)
        case GDK_KEY_Down, GDK_KEY_KP_Down: moveFocus(by: 1)
        case GDK_KEY_End where control:
            focusNewest()
            box.scrollToEnd()
        case GDK_KEY_Home where control: box.scrollToTop()
        case GDK_KEY_Escape: onLeave?()
        case GDK_KEY_Menu: openMenuOfFocusedRow()
        case GDK_KEY_F10 where shift: openMenuOfFocusedRow()
        default: return false
        }
        return true
    }

    private var focusedIndex: Int? {
        order.firstIndex { rows[$0].map { gtk_widget_get_focus_child(widget.cast()) == $0.widget.cast() } ?? false }
    }

    private func moveFocus(by step: Int) {
        guard var index = focusedIndex else { return focusNewest() }
        repeat {
            index += step
            guard order.indices.contains(index) else {
                if step > 0 { onLeave?() }
                return
            }
        } while !isMessage(order[index])
        guard let row = rows[order[index]] else { return }
        row.widget.grabFocus()
        box.reveal(row.widget)
    }

    private func isMessage(_ id: TimelineItem.ID) -> Bool {
        if case .message = id { true } else { false }
    }

    private func openMenuOfFocusedRow() {
        guard let index = focusedIndex, let row = rows[order[index]] as? MessageRow else { return }
        menu.open(for: row.item, at: row.menuAnchor)
    }

    private func addPointer() {
        let click = Object(owning: UnsafeMutableRawPointer(gtk_gesture_click_new()))
        gtk_gesture_single_set_button(click.cast(), guint(GDK_BUTTON_SECONDARY))
        click.connect("pressed") { [weak self] arguments in
            guard let self, let row = self.row(atY: arguments.double(2)) else { return }
            self.menu.open(for: row.item, at: self.widget, x: arguments.double(1), y: arguments.double(2))
        }
        widget.addController(click)
        let hold = Object(owning: UnsafeMutableRawPointer(gtk_gesture_long_press_new()))
        gtk_gesture_single_set_touch_only(hold.cast(), 1)
        hold.connect("pressed") { [weak self] arguments in
            guard let self, let row = self.row(atY: arguments.double(1)) else { return }
            self.menu.open(for: row.item, at: self.widget, x: arguments.double(0), y: arguments.double(1))
        }
        widget.addController(hold)
    }

    private func row(atY y: Double) -> MessageRow? {
        for id in order {
            guard let row = rows[id] as? MessageRow, let place = row.widget.bounds(in: widget) else { continue }
            if y >= place.y, y < place.y + place.height { return row }
        }
        return nil
    }
}
