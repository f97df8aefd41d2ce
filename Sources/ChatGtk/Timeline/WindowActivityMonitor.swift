import CGtk
import GtkKit

/// Monitors whether a widget is mapped in the active window.
final class WindowActivityMonitor {
    /// Called on each change.
    var onChange: ((Bool) -> Void)?
    private(set) var isThere = false

    /// Retained only while the widget is mapped: the window retains the widget, which would form a cycle.
    private var window: Object?
    private var activity: SignalConnection?

    init(on widget: Widget) {
        let pointer = widget.pointer
        widget.connect("map") { [weak self] _ in self?.observe(Widget(borrowing: pointer)) }
        widget.connect("unmap") { [weak self] _ in self?.leave() }
    }

    private func observe(_ widget: Widget) {
        leave()
        guard let root = gtk_widget_get_root(widget.cast()),
            shim_is_a(UnsafeMutableRawPointer(root), gtk_window_get_type()) != 0
        else { return }
        let window = Object(borrowing: UnsafeMutableRawPointer(root))
        self.window = window
        activity = window.connect("notify::is-active") { [weak self] _ in self?.update() }
        update()
    }

    private func update() {
        guard let window else { return set(false) }
        set(gtk_window_is_active(window.cast()) != 0)
    }

    private func leave() {
        activity?.disconnect()
        activity = nil
        window = nil
        set(false)
    }

    private func set(_ new: Bool) {
        guard new != isThere else { return }
        isThere = new
        onChange?(new)
    }
}
