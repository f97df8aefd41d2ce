import CGtk
import ChatViewModels
import Composer
import ComposerGtk
import GtkKit

/// A single composer bar styled like other applications, using only options, items, and hooks (MIB-48).
enum ComposerStyles {
    private static let items: [String: ItemAppearance] = [
        "attach": ItemAppearance(icon: "parlance-add-symbolic", label: "Attach"),
        "emoji": ItemAppearance(icon: "parlance-emoji-symbolic", label: "Emoji"),
        "photo": ItemAppearance(icon: "camera-photo-symbolic", label: "Photo"),
        "voice": ItemAppearance(icon: "audio-input-microphone-symbolic", label: "Voice"),
        "more": ItemAppearance(icon: "parlance-add-symbolic", label: "More"), "at": ItemAppearance(label: "@"),
        "hash": ItemAppearance(label: "#"), "space": ItemAppearance(label: " "),
        "library": ItemAppearance(icon: "folder-pictures-symbolic", label: "Library"),
    ]

    /// Returns a window with all styles, some with text, and the page in it, which has its natural height.
    static func window() -> (window: Widget, page: Widget) {
        let window = Widget(sinking: gtk_window_new())
        window.withPointer { gtk_window_set_title($0, "Looks") }
        let page = Box(.vertical, spacing: 6)
        page.addStyle("view")
        page.append(section("Parlance", bar(.parlance, [.start: ["attach"], .end: ["emoji"]])))
        page.append(section("Slack", slack()))
        let messages = bar(.iMessage, [.start: ["photo"]], text: "On my way")
        ComposerBar.of(messages)?.placeholder = "iMessage"
        page.append(section("iMessage", messages))
        page.append(section("Messenger", messenger()))
        page.append(section("GitHawk", gitHawk()))
        page.append(section("Glass", glass()))
        page.append(section("No text", join()))
        let scroller = ScrolledWindow(page)
        if let viewport = scroller.withPointer({ gtk_scrolled_window_get_child($0) }) {
            gtk_scrollable_set_vscroll_policy(OpaquePointer(viewport), GTK_SCROLL_NATURAL)
        }
        window.withPointer { first in scroller.withPointer { second in gtk_window_set_child(first, second) } }
        return (window, page)
    }

    /// A toolbar whose camera button is disabled while there is text, and whose buttons start completion.
    private static func slack() -> Widget {
        let widget = bar(.slack, [.bottom: ["photo", "at", "hash", "space", "library"]], text: "The captions are next")
        guard let bar = ComposerBar.of(widget) else { return widget }
        bar.placeholder = "Message #autumn-issue"
        for item in bar.items.items(in: .bottom) {
            switch item.id {
            case "photo": item.onTextChanged { item, document in item.isEnabled = document.isEmpty }
            case "at": item.on(.pressed) { [weak bar] _ in bar?.startCompletion("@") }
            case "hash": item.on(.pressed) { [weak bar] _ in bar?.startCompletion("#") }
            case "space": item.configured { $0.spacing = .flexible }
            default: break
            }
        }
        bar.items.items(in: .bottom).first { $0.id == "photo" }?.isEnabled = false
        return widget
    }

    /// Items before the text collapse with a swipe and reappear with the opposite swipe.
    private static func messenger() -> Widget {
        let widget = bar(.messenger, [.start: ["more", "photo", "voice"], .end: ["emoji"]])
        guard let bar = ComposerBar.of(widget) else { return widget }
        bar.placeholder = "Aa"
        bar.items.items(in: .start).first?.onSwipe { [weak bar] _, direction in bar?.showsStart = direction == .right }
        return widget
    }

    /// More buttons than fit, so they scroll.
    private static func gitHawk() -> Widget {
        let widget = bar(
            .gitHawk, [.bottom: ["at", "hash", "photo", "library", "attach", "voice", "emoji", "more"]],
            text: "Looks good to me")
        ComposerBar.of(widget)?.placeholder = "Leave a comment"
        return widget
    }

    private static func glass() -> Widget {
        let overlay = Widget(sinking: gtk_overlay_new())
        let content = Box(.vertical)
        content.addStyle("gallery-wallpaper")
        content.withPointer { gtk_widget_set_size_request($0, -1, 110) }
        overlay.withPointer { first in content.withPointer { second in gtk_overlay_set_child(first, second) } }
        let widget = bar(.glass, [.start: ["attach"], .end: ["emoji"]], text: "What lies behind shows through")
        widget.withPointer { gtk_widget_set_valign($0, GTK_ALIGN_END) }
        overlay.withPointer { first in widget.withPointer { second in gtk_overlay_add_overlay(first, second) } }
        return overlay
    }

    private static func join() -> Widget {
        let widget = bar(.parlance, [:])
        guard let bar = ComposerBar.of(widget) else { return widget }
        let button = Button(sinking: gtk_button_new_with_label("Join Chat"))
        for style in ["suggested-action", "pill"] { button.addStyle(style) }
        button.withPointer { gtk_widget_set_halign($0, GTK_ALIGN_CENTER) }
        button.withPointer { gtk_widget_set_margin_top($0, 6) }
        button.withPointer { gtk_widget_set_margin_bottom($0, 6) }
        button.onClick { [weak bar] in
            bar?.replaceMiddle(by: nil)
            bar?.grabFocus()
        }
        bar.replaceMiddle(by: button)
        return widget
    }

    private static func section(_ title: String, _ bar: Widget) -> Widget {
        let box = Box(.vertical, spacing: 6)
        let label = Label(title)
        label.addStyle("heading")
        label.withPointer { gtk_label_set_xalign($0, 0) }
        label.withPointer { gtk_widget_set_margin_start($0, 18) }
        label.withPointer { gtk_widget_set_margin_top($0, 12) }
        box.append(label)
        box.append(bar)
        return box
    }

    private static func bar(_ appearance: BarAppearance, _ slots: [ItemSlot: [String]], text: String = "") -> Widget {
        let widget = ComposerBar.make()
        guard let bar = ComposerBar.of(widget) else { return widget }
        bar.appearance = appearance.rawValue
        bar.itemAppearances = items
        for (slot, ids) in slots {
            bar.items.set(ids.map { ComposerItem(id: $0) }, in: slot)
            bar.items.setSpacing(0, in: slot)
        }
        if !text.isEmpty { bar.text = text }
        return widget
    }
}
