import GtkKit

/// The upload progress below a message, with a button to cancel it.
final class UploadProgressBar {
    let widget = Box(.horizontal, spacing: 6)
    let cancel = Button(icon: "process-stop-symbolic")
    var onCancel: (() -> Void)?
    private let bar = ProgressBar()

    init() {
        widget.addStyle("message-upload")
        widget.halign = .end
        bar.valign = .center
        bar.setSizeRequest(width: 160)
        bar.setAccessibleLabel(translated("Upload Progress"))
        for style in ["flat", "circular"] { cancel.addStyle(style) }
        cancel.tooltip = translated("Cancel Upload")
        cancel.setAccessibleLabel(translated("Cancel Upload"))
        widget.append(bar)
        widget.append(cancel)
        cancel.onClick { [weak self] in self?.onCancel?() }
        widget.isVisible = false
    }

    /// - Parameter progress: From 0 to 1; `nil` hides the bar.
    func show(_ progress: Double?) {
        widget.isVisible = progress != nil
        if let progress { bar.fraction = progress }
    }

    var fraction: Double { bar.fraction }
}
