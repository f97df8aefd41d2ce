import GtkKit

/// The line above the first message of a group by someone else: who sent it, and when.
final class MessageHeader {
    let widget = Box(.horizontal, spacing: 6)
    private let sender = Label()
    private let time = Label()

    /// - Parameter inset: The distance from the row's start, in pixels.
    init(inset: Int) {
        sender.addStyle("message-sender")
        sender.setEllipsize(.end)
        time.addStyle("message-meta")
        widget.marginStart = inset
        widget.append(sender)
        widget.append(time)
    }

    /// - Parameter time: `nil` hides the line.
    func show(_ name: String, time text: String?) {
        widget.isVisible = text != nil
        guard let text else { return }
        sender.text = name
        time.text = text
    }
}
