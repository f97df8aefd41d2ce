import CGtk
import ChatGtk
import GtkKit
import MessageMarkup

/// A page with a bubble for each kind of message body, as the timeline draws it.
final class BodyPage {
    let window = Widget(sinking: adw_window_new())
    private let views: [MessageBodyView]

    init(width: Int32) {
        let names = MentionNames(FixtureConversation.members)
        let bodies =
            FixtureBodies.markdown.map { MessageMarkup.body(markdown: $0, names: names) }
            + [MessageMarkup.body(markdown: "waves to *everyone*", isEmote: true)]
            + FixtureBodies.html.map { MessageMarkup.body(html: $0) }
        let column = Box(.vertical, spacing: 6)
        for style in ["parlance-conversation", "message-row"] { column.addStyle(style) }
        column.withPointer { gtk_widget_set_margin_start($0, 12) }
        column.withPointer { gtk_widget_set_margin_end($0, 12) }
        views = bodies.enumerated().map { index, body in
            let view = MessageBodyView()
            view.show(body, sender: "Ann")
            let bubble = Box(.vertical)
            bubble.addStyle("message-bubble")
            bubble.withPointer { gtk_widget_set_halign($0, GTK_ALIGN_START) }
            bubble.append(view.widget)
            let row = Box(.vertical)
            if index.isMultiple(of: 3) { for style in ["message-row", "own"] { row.addStyle(style) } }
            row.append(bubble)
            column.append(row)
            return view
        }
        let page = Box(.vertical)
        page.addStyle("parlance-conversation")
        column.withPointer { gtk_widget_set_vexpand($0, 1) }
        page.append(column)
        window.withPointer { first in page.withPointer { second in adw_window_set_content(first, second) } }
        window.withPointer { gtk_window_set_default_size($0, width, -1) }
    }
}
