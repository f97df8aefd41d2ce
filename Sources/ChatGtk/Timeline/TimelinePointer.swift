import ChatCore
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

    private let widget: Widget
    private let list: TimelineList
    private let menu: MessageMenu
    private var viewModel: TimelineViewModel
    private var dragStart: (x: Double, y: Double, point: TextPoint?)?
    private var dragEnd: (x: Double, y: Double)?
    /// The message is that of the row when the swipe began: others that arrive may recycle the row.
    private var swiped: (row: MessageRow, message: MessageID)?
    private var stopsFling = false
    /// The message where a touch began: others that arrive may scroll the list before it counts as a long press.
    private var touched: MessageID?
    private var clicks: ClickCount

    /// - Parameters:
    ///   - widget: the list's widget.
    ///   - menu: the menu of the clicked message.
    init(on widget: Widget, list: TimelineList, menu: MessageMenu, viewModel: TimelineViewModel) {
        self.widget = widget
        self.list = list
        self.menu = menu
        self.viewModel = viewModel
        clicks = ClickCount(
            time: DesktopSettings.doubleClickTime, distance: DesktopSettings.doubleClickDistance)
        addSelecting()
        addToggling()
        addClicks()
        addMenus()
        addSwipe()
    }

    /// Handles input on the messages of another timeline from now on.
    func show(_ viewModel: TimelineViewModel) {
        swiped?.row.showSwipe(0)
        (swiped, dragStart, dragEnd) = (nil, nil, nil)
        clicks.reset()
        self.viewModel = viewModel
    }

    // MARK: Selecting by dragging

    private func addSelecting() {
        let drag = DragGesture()
        drag.onDragBegin { [weak self] event in
            guard let self else { return }
            guard !event.isTouch else { return beginTouch(y: event.y) }
            self.dragStart = (event.x, event.y, self.point(atX: event.x, y: event.y))
        }
        drag.onDragUpdate { [weak self] event in
            guard let self, let start = self.dragStart else { return }
            guard self.dragEnd != nil || event.x.magnitude + event.y.magnitude >= Self.dragThreshold else { return }
            event.claim()
            self.select(toX: start.x + event.x, y: start.y + event.y)
        }
        drag.onDragEnd { [weak self] _ in
            self?.list.endDragScroll()
            self?.dragStart = nil
            self?.dragEnd = nil
        }
        widget.addController(drag)
    }

    private func select(toX x: Double, y: Double) {
        dragEnd = (x, y)
        clicks.reset()
        list.dragScroll(at: y)
        dragScrolled()
    }

    /// Extends the selection after the pointer has moved or the list has scrolled below it.
    func dragScrolled() {
        guard let start = dragStart?.point, let dragEnd, let end = point(atX: dragEnd.x, y: dragEnd.y) else { return }
        viewModel.send(.selection(.select(MessageSelection(anchor: start, focus: end))))
    }

    /// Returns the text position nearest to a point in list coordinates.
    private func point(atX x: Double, y: Double) -> TextPoint? {
        guard let hit = list.row(at: y, nearest: true) else { return nil }
        if let row = hit.row as? MessageRow, let item = row.item {
            return TextPoint(message: item.id, offset: row.offset(atX: x, y: y, in: widget))
        }
        // On a row between messages: the start of the next message.
        let rows = viewModel.rows
        return rows.indices.clamped(to: hit.index..<rows.count).lazy.compactMap { rows[$0].message }.first
            .map { TextPoint(message: $0.id, offset: 0) }
    }

    // MARK: Clicks

    /// While messages are selected, a press on a message toggles it and does nothing else. It is claimed before the
    /// message's links, pictures and buttons get it: the release would open them, also after the press has deselected
    /// the last message.
    private func addToggling() {
        let click = ClickGesture(phase: .capture)
        click.onPress { [weak self] event in
            guard let self, !event.isTouch, toggles(atY: event.y) else { return }
            event.claim()
            pressed(event)
        }
        widget.addController(click)
    }

    /// Whether a press at a height toggles a message.
    private func toggles(atY y: Double) -> Bool {
        guard !viewModel.state.selection.isEmpty, let item = (list.row(at: y)?.row as? MessageRow)?.item else {
            return false
        }
        return item.canSelect || item.isSelected
    }

    private func addClicks() {
        let click = ClickGesture()
        click.onPress { [weak self] event in
            guard let self, !event.isTouch else { return }
            pressed(event)
        }
        click.onRelease { [weak self] event in
            guard let self, event.count == 1 else { return }
            self.released(isTouch: event.isTouch)
        }
        widget.addController(click)
    }

    private func pressed(_ event: ClickEvent) {
        let (x, y) = (event.x, event.y)
        let row = list.row(at: y)?.row as? MessageRow
        let count = clicks.press(x: x, y: y, at: event.time, on: row?.item?.id)
        guard let row, let item = row.item else { return }
        let point = TextPoint(message: item.id, offset: row.offset(atX: x, y: y, in: widget))
        let isOnBubble = row.bubbleContains(x: x, y: y, of: widget)
        let press = TextPress(
            point, count: count, isExtending: event.modifiers.contains(.shift), isOnBubble: isOnBubble)
        viewModel.send(.selection(.press(press)))
    }

    /// A tap hides the on-screen keyboard by moving the focus; mouse clicks leave the focus alone (SLK-48).
    func released(isTouch: Bool) {
        guard isTouch else { return }
        widget.grabFocus()
    }

    // MARK: Menus

    private func addMenus() {
        let click = ClickGesture(.secondary)
        click.onPress { [weak self] event in
            guard let self else { return }
            openMenu(of: list.row(at: event.y)?.row, x: event.x, y: event.y)
        }
        widget.addController(click)
        let hold = LongPressGesture()
        hold.isTouchOnly = true
        // Capture phase: a touch that scrolls a code block is claimed there and would look stationary here, like a long
        // press.
        hold.phase = .capture
        // A touch that stops kinetic scrolling must not open a menu.
        hold.onBegin { [weak self] in
            guard let self else { return }
            self.stopsFling = self.list.isMoving
            // Comes before the drag begins, which notes the message.
            self.touched = nil
        }
        hold.onPress { [weak self] event in
            guard self?.stopsFling == false else { return }
            self?.hold(x: event.x, y: event.y)
        }
        widget.addController(hold)
    }

    func beginTouch(y: Double) { touched = (list.row(at: y)?.row as? MessageRow)?.item?.id }

    func hold(x: Double, y: Double) {
        // The server's event may have replaced a local echo since.
        let message = touched.map { viewModel.currentID(of: $0) }
        let row: (any TimelineListRow)? =
            if let message { list.row(for: TimelineItem.ID.message(message)) } else { list.row(at: y)?.row }
        openMenu(of: row, x: x, y: y)
    }

    private func openMenu(of row: (any TimelineListRow)?, x: Double, y: Double) {
        guard let row = row as? MessageRow, let item = row.item else { return }
        row.prepareAnchors()
        menu.open(for: item, at: widget, x: x, y: y, over: row.link(atX: x, y: y, in: widget))
    }

    // MARK: Swiping

    private func addSwipe() {
        let pan = PanGesture(.horizontal)
        pan.isTouchOnly = true
        pan.onDragBegin { [weak self] in self?.beginSwipe(y: $0.y) }
        pan.onPan { [weak self] in self?.swipe(by: $0) }
        pan.onDragEnd { [weak self] in self?.endSwipe(by: $0.x) }
        widget.addController(pan)
    }

    func beginSwipe(y: Double) {
        guard let row = list.row(at: y)?.row as? MessageRow, let item = row.item, item.canReply else { return }
        swiped = (row, item.id)
    }

    func swipe(by distance: Double) {
        guard let (row, message) = swiped else { return }
        row.showSwipe(row.item?.id == message ? distance.magnitude / Self.swipeDistance : 0)
    }

    func endSwipe(by distance: Double) {
        guard let (row, message) = swiped else { return }
        swiped = nil
        row.showSwipe(0)
        if distance.magnitude >= Self.swipeDistance { viewModel.send(.message(message, .reply)) }
    }
}
