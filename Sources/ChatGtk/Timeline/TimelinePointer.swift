import CGtk
import ChatViewModels
import GtkKit
import TimelineGtk

/// Pointer and touch input on messages: selecting, editing, replying, opening the menu and hiding the on-screen
/// keyboard.
final class TimelinePointer {
    /// The minimum length of a horizontal swipe that replies on release, in pixels.
    static let swipeDistance = 64.0
    /// The drag threshold, in pixels.
    private static let dragThreshold = 6.0

    private unowned let view: TimelineView
    private var dragStart: (x: Double, y: Double, point: TextPoint?)?
    private var dragEnd: (x: Double, y: Double)?
    private var swiped: MessageRow?
    private var stopsFling = false
    private var clicks: ClickCount

    /// - Parameter view: The view that owns this object.
    init(view: TimelineView) {
        self.view = view
        let settings = gtk_settings_get_default().map { Object(borrowing: UnsafeMutableRawPointer($0)) }
        clicks = ClickCount(
            time: settings?.integer("gtk-double-click-time") ?? 400,
            distance: settings?.integer("gtk-double-click-distance") ?? 5)
        addSelecting()
        addClicks()
        addMenus()
        addSwipe()
    }

    // MARK: Selecting by dragging

    private func addSelecting() {
        let drag = Object(owning: UnsafeMutableRawPointer(gtk_gesture_drag_new()))
        drag.connect("drag-begin") { [weak self] arguments in
            guard let self, let drag = arguments.controller, !Self.isTouch(drag) else { return }
            let (x, y) = (arguments.double(0), arguments.double(1))
            self.dragStart = (x, y, self.point(atX: x, y: y))
        }
        drag.connect("drag-update") { [weak self] arguments in
            guard let self, let drag = arguments.controller, let start = self.dragStart else { return }
            let (dx, dy) = (arguments.double(0), arguments.double(1))
            guard self.dragEnd != nil || dx.magnitude + dy.magnitude >= Self.dragThreshold else { return }
            gtk_gesture_set_state(drag.cast(), GTK_EVENT_SEQUENCE_CLAIMED)
            self.select(toX: start.x + dx, y: start.y + dy)
        }
        drag.connect("drag-end") { [weak self] _ in
            self?.view.list.endDragScroll()
            self?.dragStart = nil
            self?.dragEnd = nil
        }
        view.widget.addController(drag)
    }

    private func select(toX x: Double, y: Double) {
        dragEnd = (x, y)
        clicks.reset()
        view.list.dragScroll(at: y)
        dragScrolled()
    }

    /// Extends the selection after the pointer has moved or the list has scrolled below it.
    func dragScrolled() {
        guard let start = dragStart?.point, let dragEnd, let end = point(atX: dragEnd.x, y: dragEnd.y) else { return }
        view.viewModel.send(.selection(.select(MessageSelection(anchor: start, focus: end))))
    }

    /// Returns the text position nearest to a point in list coordinates.
    private func point(atX x: Double, y: Double) -> TextPoint? {
        guard let hit = view.list.row(at: y, nearest: true) else { return nil }
        if let row = hit.row as? MessageRow, let item = row.item {
            return TextPoint(message: item.id, offset: row.offset(atX: x, y: y, in: view.widget))
        }
        // On a row between messages: the start of the next message.
        let rows = view.viewModel.rows
        return rows.indices.clamped(to: hit.index..<rows.count).lazy.compactMap { rows[$0].message }.first
            .map { TextPoint(message: $0.id, offset: 0) }
    }

    // MARK: Clicks

    private func addClicks() {
        let click = Object(owning: UnsafeMutableRawPointer(gtk_gesture_click_new()))
        click.connect("pressed") { [weak self] arguments in
            guard let self, let click = arguments.controller, !Self.isTouch(click) else { return }
            let isExtending =
                gtk_event_controller_get_current_event_state(click.cast()).rawValue
                & GDK_SHIFT_MASK.rawValue != 0
            let (x, y) = (arguments.double(1), arguments.double(2))
            let time = gtk_event_controller_get_current_event_time(click.cast())
            self.pressed(self.clicks.press(x: x, y: y, at: time), x: x, y: y, isExtending)
        }
        click.connect("released") { [weak self] arguments in
            guard let self, let click = arguments.controller, arguments.int(0) == 1 else { return }
            self.released(isTouch: Self.isTouch(click))
        }
        view.widget.addController(click)
    }

    private func pressed(_ count: Int, x: Double, y: Double, _ isExtending: Bool) {
        guard let row = view.list.row(at: y)?.row as? MessageRow, let item = row.item else { return }
        let point = TextPoint(message: item.id, offset: row.offset(atX: x, y: y, in: view.widget))
        let isOnBubble = row.bubbleContains(x: x, y: y, of: view.widget)
        let press = TextPress(point, count: count, isExtending: isExtending, isOnBubble: isOnBubble)
        view.viewModel.send(.selection(.press(press)))
    }

    /// A tap hides the on-screen keyboard by moving the focus; mouse clicks leave the focus alone (SLK-48).
    func released(isTouch: Bool) {
        guard isTouch else { return }
        view.grabFocus()
    }

    // MARK: Menus

    private func addMenus() {
        let click = Object(owning: UnsafeMutableRawPointer(gtk_gesture_click_new()))
        gtk_gesture_single_set_button(click.cast(), guint(GDK_BUTTON_SECONDARY))
        click.connect("pressed") { [weak self] arguments in
            self?.openMenu(x: arguments.double(1), y: arguments.double(2))
        }
        view.widget.addController(click)
        let hold = Object(owning: UnsafeMutableRawPointer(gtk_gesture_long_press_new()))
        gtk_gesture_single_set_touch_only(hold.cast(), 1)
        // Capture phase: a touch that scrolls a code block is claimed there and would look stationary here, like a long
        // press.
        gtk_event_controller_set_propagation_phase(hold.cast(), GTK_PHASE_CAPTURE)
        // A touch that stops kinetic scrolling must not open a menu.
        hold.connect("begin") { [weak self] _ in
            guard let self else { return }
            self.stopsFling = self.view.list.isMoving
        }
        hold.connect("pressed") { [weak self] arguments in
            guard self?.stopsFling == false else { return }
            self?.openMenu(x: arguments.double(0), y: arguments.double(1))
        }
        view.widget.addController(hold)
    }

    private func openMenu(x: Double, y: Double) {
        guard let row = view.list.row(at: y)?.row as? MessageRow, let item = row.item else { return }
        view.menu.open(for: item, at: view.widget, x: x, y: y)
    }

    // MARK: Swiping

    private func addSwipe() {
        let pan = Object(owning: UnsafeMutableRawPointer(gtk_gesture_pan_new(GTK_ORIENTATION_HORIZONTAL)))
        gtk_gesture_single_set_touch_only(pan.cast(), 1)
        pan.connect("drag-begin") { [weak self] arguments in self?.beginSwipe(y: arguments.double(1)) }
        pan.connect("pan") { [weak self] arguments in self?.swipe(by: arguments.double(1)) }
        pan.connect("drag-end") { [weak self] arguments in self?.endSwipe(by: arguments.double(0)) }
        view.widget.addController(pan)
    }

    func beginSwipe(y: Double) {
        guard let row = view.list.row(at: y)?.row as? MessageRow, row.item?.canReply == true else { return }
        swiped = row
    }

    func swipe(by distance: Double) { swiped?.showSwipe(distance.magnitude / Self.swipeDistance) }

    func endSwipe(by distance: Double) {
        swiped?.showSwipe(0)
        if distance.magnitude >= Self.swipeDistance, let id = swiped?.item?.id {
            view.viewModel.send(.message(id, .reply))
        }
        swiped = nil
    }

    /// Checks the event instead of the device: X11 touchscreens share the pointer device of the mouse.
    static func isTouch(_ controller: Object) -> Bool {
        guard let event = gtk_event_controller_get_current_event(controller.cast()) else { return false }
        return isTouch(gdk_event_get_event_type(event))
    }

    /// Returns whether the type is a touchscreen event; pens and touchpads emit pointer events.
    static func isTouch(_ type: GdkEventType) -> Bool {
        [GDK_TOUCH_BEGIN, GDK_TOUCH_UPDATE, GDK_TOUCH_END, GDK_TOUCH_CANCEL].contains(type)
    }
}

extension SignalArguments {
    /// The event controller that emitted the signal.
    var controller: Object? { emitter.map { Object(borrowing: $0) } }
}
