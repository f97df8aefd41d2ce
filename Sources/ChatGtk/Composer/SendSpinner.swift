import CGtk
import GtkKit

/// Turns a send button into one that stops what is sent, when that takes long (MIB-10).
final class SendSpinner {
    /// Less than this is not worth a change of the button.
    private static let showDelay = Duration.milliseconds(300)

    /// Whether the button stops what is on its way.
    private(set) var isVisible = false
    var onChange: (() -> Void)?
    private let button: Button
    private var delay: Timeout?

    init(button: Button) {
        self.button = button
    }

    /// - Parameter isSending: whether something is on its way and the button is not needed for anything else.
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
        let label = isVisible ? translated("Stop Sending") : translated("Send")
        if isVisible {
            let spinner = Widget(sinking: gtk_spinner_new())
            gtk_spinner_start(spinner.cast())
            gtk_button_set_child(button.cast(), spinner.cast())
        } else {
            button.iconName = "go-up-symbolic"
        }
        button.tooltip = label
        button.setAccessibleLabel(label)
        onChange?()
    }
}
