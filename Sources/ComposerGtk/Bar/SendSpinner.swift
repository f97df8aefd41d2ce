import ComposerSessions
import GtkKit

/// Turns the send button into a cancel button if sending takes a while (MIB-10).
final class SendSpinner {
    /// Sending that takes less time does not change the button.
    private static let showDelay = Duration.milliseconds(300)

    /// Whether the button cancels sending.
    private(set) var isVisible = false
    var onChange: (() -> Void)?
    private let button: Button
    private var delay: Timeout?

    init(button: Button) {
        self.button = button
    }

    isolated deinit {
        onChange = nil
        if isVisible { show(false) }
    }

    /// - Parameter isSending: Whether a message is being sent and the button is not needed for another one.
    func update(isSending: Bool) {
        guard isSending != (isVisible || delay != nil) else { return }
        delay = nil
        if isSending {
            delay = Timeout(after: Self.showDelay) { [weak self] in self?.show(true) }
        } else if isVisible {
            show(false)
        }
    }

    private func show(_ isVisible: Bool) {
        self.isVisible = isVisible
        let label = ComposerText.desktop.sendButton(isCanceling: isVisible)
        if isVisible {
            let spinner = Spinner()
            spinner.isSpinning = true
            button.setChild(spinner)
        } else {
            button.iconName = "parlance-send-symbolic"
        }
        button.tooltip = label
        button.setAccessibleLabel(label)
        onChange?()
    }
}
