import CGtk
import ChatGtk
import ChatViewModels
import Composer
import GtkKit

/// One composer bar in four looks, by options, items and CSS classes alone (MIB-48).
enum Looks {
    private static let attach = ItemLook(icon: "mail-attachment-symbolic", label: "Attach")
    private static let emoji = ItemLook(icon: "face-smile-symbolic", label: "Emoji")
    private static let photo = ItemLook(icon: "camera-photo-symbolic", label: "Photo")
    private static let voice = ItemLook(icon: "audio-input-microphone-symbolic", label: "Voice")
    private static let more = ItemLook(icon: "list-add-symbolic", label: "More")
    private static let mention = ItemLook(label: "@")

    /// A window with all of them, and something written in each second.
    static func window() -> Widget {
        let window = Widget(sinking: gtk_window_new())
        gtk_window_set_title(window.cast(), "Looks")
        let page = Box(.vertical, spacing: 6)
        page.addStyle("view")
        page.append(section("Parlance", bar(start: [("attach", attach)], end: [("emoji", emoji)])))
        let slack = bar(
            "look-slack", .slack, bottom: [("more", more), ("at", mention), ("emoji", emoji), ("voice", voice)])
        ComposerBar.of(slack)?.showsFormatting = true
        ComposerBar.of(slack)?.placeholder = "Message #autumn-issue"
        page.append(section("Slack", slack))
        let messages = bar("look-imessage", .messageInputBar, start: [("photo", photo)])
        ComposerBar.of(messages)?.placeholder = "iMessage"
        ComposerBar.of(messages)?.text = "On my way"
        page.append(section("iMessage", messages))
        let messenger = bar(
            "look-messenger", .messageInputBar, start: [("more", more), ("photo", photo), ("voice", voice)],
            end: [("emoji", emoji)])
        ComposerBar.of(messenger)?.placeholder = "Aa"
        page.append(section("Messenger", messenger))
        gtk_window_set_child(window.cast(), page.cast())
        return window
    }

    private static func section(_ title: String, _ bar: Widget) -> Widget {
        let box = Box(.vertical, spacing: 6)
        let label = Label(title)
        label.addStyle("heading")
        gtk_label_set_xalign(label.cast(), 0)
        gtk_widget_set_margin_start(label.cast(), 18)
        gtk_widget_set_margin_top(label.cast(), 12)
        box.append(label)
        box.append(bar)
        return box
    }

    private static func bar(
        _ style: String? = nil, _ preset: ComposerConfiguration.Preset = .parlance,
        start: [(String, ItemLook)] = [], end: [(String, ItemLook)] = [], bottom: [(String, ItemLook)] = []
    ) -> Widget {
        let widget = ComposerBar.make()
        guard let bar = ComposerBar.of(widget) else { return widget }
        if let style { widget.addStyle(style) }
        bar.session.configuration = .preset(preset)
        bar.itemLooks = Dictionary(start + end + bottom, uniquingKeysWith: { first, _ in first })
        for (slot, items) in [(ItemSlot.start, start), (.end, end), (.bottom, bottom)] {
            bar.items.set(items.map { ComposerItem(id: $0.0) }, in: slot)
            bar.items.setSpacing(0, in: slot)
        }
        return widget
    }
}
