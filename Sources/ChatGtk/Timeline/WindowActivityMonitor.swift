import GtkKit

/// Monitors whether a widget is mapped in the active window and not covered by a dialog.
final class WindowActivityMonitor {
    /// Called on each change.
    var onChange: ((Bool) -> Void)?
    private(set) var isActive = false

    /// Retained only while the widget is mapped: the window retains the widget, which would form a cycle.
    private var window: TopLevel?
    private var connections: [SignalConnection] = []

    init(on widget: Widget) {
        widget.onMap { [weak self] in self?.observe($0) }
        widget.onUnmap { [weak self] _ in self?.leave() }
    }

    isolated deinit { disconnect() }

    private func observe(_ widget: Widget) {
        leave()
        guard let window = widget.window else { return }
        self.window = window
        connections = [
            window.onActiveChange { [weak self] in self?.update() },
            window.onVisibleDialogChange { [weak self] in self?.update() },
        ]
        update()
    }

    private func update() {
        set(window.map { $0.isActive && $0.visibleDialog == nil } ?? false)
    }

    private func leave() {
        disconnect()
        window = nil
        set(false)
    }

    private func disconnect() {
        for connection in connections { connection.disconnect() }
        connections = []
    }

    private func set(_ new: Bool) {
        guard new != isActive else { return }
        isActive = new
        onChange?(new)
    }
}
