import GtkKit

/// Monitors whether a widget is mapped in the active window, not covered by a dialog, and the screen is not locked.
final class WindowActivityMonitor {
    /// Called on each change.
    var onChange: ((Bool) -> Void)?
    private(set) var isActive = false

    /// Retained only while the widget is mapped: the window retains the widget, which would form a cycle.
    private var window: TopLevel?
    private var connections: [SignalConnection] = []
    /// Behind the lock, the window stays active.
    private var lock: Rendering?

    init(on widget: Widget) {
        lock = Rendering({ ScreenLock.desktop.isLocked }, { [weak self] _ in self?.update() })
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
        let isVisible = window.map { $0.isActive && $0.visibleDialog == nil } ?? false
        set(isVisible && !ScreenLock.desktop.isLocked)
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
