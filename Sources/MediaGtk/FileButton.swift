import GtkKit

/// A button that does something with a file, and nothing more until that has ended. Meanwhile it is insensitive, and
/// shows a spinner if it takes a while.
final class FileButton {
    /// A spinner that is shown for less time would only flicker.
    private static let spinnerDelay = Duration.milliseconds(300)

    let widget: Button
    private let icon: String
    private var delay: Timeout?

    /// - Parameter label: The accessible label, which names the file too.
    init(_ icon: String, _ tooltip: String, _ label: String) {
        self.icon = icon
        widget = FileCard.button(icon, tooltip, label)
    }

    /// - Parameter action: Calls its argument once it has succeeded, failed or been canceled.
    func onClick(_ action: @escaping @MainActor (_ completion: @escaping @MainActor () -> Void) -> Void) {
        widget.onClick { [weak self] in self?.perform(action) }
    }

    private func perform(_ action: @MainActor (_ completion: @escaping @MainActor () -> Void) -> Void) {
        let resume = widget.suspend()
        delay = Timeout(after: Self.spinnerDelay) { [weak self] in self?.showSpinner() }
        action { [weak self] in
            self?.hideSpinner()
            resume()
        }
    }

    private func showSpinner() {
        let spinner = Spinner()
        spinner.isSpinning = true
        widget.setChild(spinner)
    }

    private func hideSpinner() {
        delay = nil
        widget.iconName = icon
    }
}

extension Button {
    /// Makes the button insensitive until the returned closure is called. GTK takes the focus from an insensitive
    /// widget: it returns, unless another widget has it by then.
    func suspend() -> @MainActor () -> Void {
        let hadFocus = isFocus
        isSensitive = false
        return { [weak self] in
            guard let self else { return }
            isSensitive = true
            if hadFocus, let root, root.focus == nil { grabFocus() }
        }
    }
}
