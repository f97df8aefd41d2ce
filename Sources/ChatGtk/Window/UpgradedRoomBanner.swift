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
        let text = Label(translated("This room was upgraded and is no longer active."))
        reason.addStyle("caption")
        for label in [text, reason] {
            label.wrap = true
            label.setWrapMode(.wordOrCharacter)
            label.setJustify(.center)
        }
        // The text is untrusted and can be of any length.
        reason.lines = 3
        reason.setEllipsize(.end)
        let button = Button(mnemonic: translated("_Go to New Room"))
        button.addStyle("pill")
        button.addStyle("suggested-action")
        button.halign = .center
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
