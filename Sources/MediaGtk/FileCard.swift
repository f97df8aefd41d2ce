import CGtk
package import ChatCore
package import GtkKit

/// A file in a message: its icon, name and size, and buttons to open and save it.
package final class FileCard {
    package let widget: Widget
    let open: Button
    private let card = Box(.horizontal, spacing: 9)

    package init(_ file: MediaReference, _ media: MediaPresenter) {
        open = Self.button("document-open-symbolic", translated("Open"), file)
        card.addStyle("message-file")
        widget = card
        card.append(Self.icon(file.type))
        card.append(Self.texts(file))
        open.onClick { [weak media] in media?.open(file) }
        let save = Self.button("document-save-symbolic", translated("Save"), file)
        save.onClick { [weak self, weak media] in
            if let self { media?.save(file, over: self.widget) }
        }
        card.append(open)
        card.append(save)
    }

    /// Inserts a button before the icon.
    func addFirst(_ button: Widget) { gtk_box_prepend(card.cast(), button.cast()) }

    private static func icon(_ type: String) -> Widget {
        let icon = Widget(sinking: gtk_image_new_from_icon_name("text-x-generic-symbolic"))
        if let content = g_content_type_from_mime_type(type) {
            defer { g_free(content) }
            if let symbol = g_content_type_get_symbolic_icon(content) {
                let symbol = Object(owning: UnsafeMutableRawPointer(symbol))
                // Without a symbolic icon for the type, the theme returns a full-color one or none, which would be hard
                // to see on the message's background.
                if isSymbol(symbol, for: icon) { gtk_image_set_from_gicon(icon.cast(), symbol.cast()) }
            }
        }
        gtk_image_set_pixel_size(icon.cast(), 28)
        return icon
    }

    static func isSymbol(_ icon: Object, for widget: Widget) -> Bool {
        let theme = gtk_icon_theme_get_for_display(gtk_widget_get_display(widget.cast()))
        guard gtk_icon_theme_has_gicon(theme, icon.cast()) != 0,
            let found = gtk_icon_theme_lookup_by_gicon(
                theme, icon.cast(), 28, 1, GTK_TEXT_DIR_NONE, GtkIconLookupFlags(rawValue: 0))
        else { return false }
        defer { g_object_unref(UnsafeMutableRawPointer(found)) }
        return gtk_icon_paintable_is_symbolic(found) != 0
    }

    private static func texts(_ file: MediaReference) -> Widget {
        let texts = Box(.vertical)
        gtk_widget_set_hexpand(texts.cast(), 1)
        gtk_widget_set_valign(texts.cast(), GTK_ALIGN_CENTER)
        let name = Label(file.name)
        gtk_label_set_ellipsize(name.cast(), PANGO_ELLIPSIZE_MIDDLE)
        gtk_label_set_max_width_chars(name.cast(), 32)
        gtk_label_set_xalign(name.cast(), 0)
        name.tooltip = file.altText ?? file.name
        texts.append(name)
        let facts = [file.duration.map(DurationText.text), file.bytes.map(ByteCount.text)].compactMap { $0 }
        if !facts.isEmpty {
            let size = Label(facts.joined(separator: " · "))
            gtk_label_set_xalign(size.cast(), 0)
            for style in ["caption", "dim-label"] { size.addStyle(style) }
            texts.append(size)
        }
        return texts
    }

    static func button(_ icon: String, _ name: String, _ file: MediaReference) -> Button {
        let button = Button(sinking: gtk_button_new_from_icon_name(icon))
        for style in ["flat", "circular"] { button.addStyle(style) }
        gtk_widget_set_valign(button.cast(), GTK_ALIGN_CENTER)
        button.tooltip = name
        button.setAccessibleLabel("\(name) \(file.name)")
        return button
    }
}
