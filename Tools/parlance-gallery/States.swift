import CGtk
import ChatGtk
import ChatViewModels
import Composer
import ComposerGtk
import ComposerSessions
import Foundation
import GtkKit

/// The composer bar in each of its states, one below the other.
enum States {
    static let names = [
        "Empty", "Written", "Mentions", "Three lines and more", "Tall", "Answering", "Editing", "Counting",
        "Over the limit",
        "Formatting",
        "Right to left", "Sending", "Read only",
    ]

    /// Returns a window with all states, and the page in it, which has its natural height.
    static func window() -> (window: Widget, page: Widget) {
        let window = Widget(sinking: gtk_window_new())
        window.withPointer { gtk_window_set_title($0, "States") }
        let page = Box(.vertical, spacing: 6)
        page.addStyle("view")
        for name in names {
            let label = Label(name)
            label.addStyle("heading")
            label.withPointer { gtk_label_set_xalign($0, 0) }
            label.withPointer { gtk_widget_set_margin_start($0, 18) }
            label.withPointer { gtk_widget_set_margin_end($0, 18) }
            label.withPointer { gtk_widget_set_margin_top($0, 6) }
            page.append(label)
            page.append(bar(name))
        }
        let scroller = ScrolledWindow(page)
        // By default, the viewport allocates children their minimum height.
        if let viewport = scroller.withPointer({ gtk_scrolled_window_get_child($0) }) {
            gtk_scrollable_set_vscroll_policy(OpaquePointer(viewport), GTK_SCROLL_NATURAL)
        }
        window.withPointer { first in scroller.withPointer { second in gtk_window_set_child(first, second) } }
        return (window, page)
    }

    private static func bar(_ name: String) -> Widget {
        let widget = ComposerBar.make()
        guard let bar = ComposerBar.of(widget) else { return widget }
        bar.itemAppearances = [
            "attach": ItemAppearance(icon: "parlance-add-symbolic", label: "Attach"),
            "emoji": ItemAppearance(icon: "parlance-emoji-symbolic", label: "Emoji"),
        ]
        bar.items.add(ComposerItem(id: "attach"), to: .start)
        bar.items.add(ComposerItem(id: "emoji"), to: .end)
        bar.maxLines = 5
        set(bar, to: name)
        return widget
    }

    /// Mentions of others and of the user, one of which wraps onto the next line in a narrow window.
    private static let mentions = WrittenText(
        "@Ann Lindqvist and @Robin: what does @Tomás Herrera say?",
        mentioning: [("ann", "@Ann Lindqvist"), ("robin", "@Robin"), ("tomas", "@Tomás Herrera")].map {
            Mention(.member($0), text: $1)
        })

    private static func set(_ bar: ComposerBar, to name: String) {
        switch name {
        case "Written": bar.text = "The captions are next: **small caps** or _italics_? See `smcp`."
        case "Mentions":
            bar.currentUserEntityID = "robin"
            bar.session.handle(.load(mentions))
        case "Three lines and more":
            bar.text = (1...9).map { "Line \($0) of a text that is long" }.joined(separator: "\n")
        case "Tall":
            bar.text = "One line"
            bar.isExpanded = true
        case "Answering":
            bar.session.handle(
                .reply(
                    ReplyTarget(
                        messageID: "m", sender: "Tomás Herrera",
                        preview: .text("I also tried the headline in small caps. Take a look when you’re back."))))
            bar.text = "Looks good"
        case "Editing":
            bar.session.handle(
                .startEdit(id: "m", WrittenText("The grid stays, whatever the headline will be in the end.")))
        case "Counting":
            bar.showsCounter = true
            bar.text = "As long as this"
        case "Over the limit":
            bar.characterLimit = 20
            bar.text = "More than twenty characters"
        case "Formatting":
            bar.showsFormatting = true
            bar.text = "Always there"
        case "Right to left": bar.text = "שלום עולם, זו הודעה מימין לשמאל\nand a line from left to right"
        case "Sending":
            bar.session.onSend = { _ in try await Task.sleep(for: .seconds(3600)) }
            bar.text = "On its way"
            bar.session.handle(.send)
        case "Read only":
            let readOnlyLabel = Label("Only moderators write in this room")
            readOnlyLabel.addStyle("dim-label")
            readOnlyLabel.withPointer { gtk_widget_set_margin_top($0, 9) }
            readOnlyLabel.withPointer { gtk_widget_set_margin_bottom($0, 9) }
            readOnlyLabel.withPointer { gtk_label_set_wrap($0, 1) }
            readOnlyLabel.withPointer { gtk_label_set_justify($0, GTK_JUSTIFY_CENTER) }
            bar.replaceMiddle(by: readOnlyLabel)
        default: break
        }
    }
}
