import CGtk
import ChatCore
import GtkKit

/// Replaces the composer in an upgraded room: the tombstone's message, and a button that opens the successor.
final class UpgradedRoomBanner {
    let widget: Widget
    private let reason = Label("")
    private var next: String?

    init() {
        let box = Box(.vertical, spacing: 12)
        widget = box
        box.addStyle("encrypted-notice")
        box.isVisible = false
        let text = Label(translated("This conversation goes on in another room."))
        reason.addStyle("caption")
        for label in [text, reason] {
            gtk_label_set_wrap(label.cast(), 1)
            gtk_label_set_wrap_mode(label.cast(), PANGO_WRAP_WORD_CHAR)
            gtk_label_set_justify(label.cast(), GTK_JUSTIFY_CENTER)
        }
        // The text is untrusted and can be of any length.
        gtk_label_set_lines(reason.cast(), 3)
        gtk_label_set_ellipsize(reason.cast(), PANGO_ELLIPSIZE_END)
        let button = Button(sinking: gtk_button_new_with_mnemonic(translated("_Go to New Room")))
        button.addStyle("pill")
        button.addStyle("suggested-action")
        gtk_widget_set_halign(button.cast(), GTK_ALIGN_CENTER)
        button.onClick { [weak self] in
            guard let self, let next = self.next else { return }
            self.widget.activateAction("win.open-address", next)
        }
        for child in [text, reason, button] { box.append(child) }
    }

    func show(_ succession: RoomSuccession) {
        next = succession.next
        widget.isVisible = next != nil
        reason.text = succession.reason ?? ""
        reason.isVisible = !reason.text.isEmpty
    }
}
