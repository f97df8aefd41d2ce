import CGtk
import GtkKit

/// The upload progress below a message, with a button to cancel it.
final class UploadProgressBar {
    let widget = Box(.horizontal, spacing: 6)
    let cancel = Button(sinking: gtk_button_new_from_icon_name("process-stop-symbolic"))
    var onCancel: (() -> Void)?
    private let bar = Widget(sinking: gtk_progress_bar_new())

    init() {
        widget.addStyle("message-upload")
        gtk_widget_set_halign(widget.cast(), GTK_ALIGN_END)
        gtk_widget_set_valign(bar.cast(), GTK_ALIGN_CENTER)
        gtk_widget_set_size_request(bar.cast(), 160, -1)
        bar.setAccessibleLabel(translated("Upload"))
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
        if let progress { gtk_progress_bar_set_fraction(bar.cast(), progress) }
    }

    var fraction: Double { gtk_progress_bar_get_fraction(bar.cast()) }
}
