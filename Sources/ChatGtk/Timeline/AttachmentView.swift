import CGtk
import ChatCore
import GtkKit

/// The files of one message: pictures as such, in a place that is known before they are loaded, others as cards.
final class AttachmentView {
    let widget: Widget
    private let media: MediaPresenter
    private let box = Box(.vertical, spacing: 6)
    private var shown: [MediaReference] = []
    private var parts: [AnyObject] = []

    init(media: MediaPresenter) {
        self.media = media
        widget = box
        box.addStyle("message-files")
        box.isVisible = false
    }

    func show(_ files: [MediaReference]) {
        guard files != shown else { return }
        shown = files
        for child in box.children { box.remove(child) }
        parts = files.map { file in
            if file.isPicture {
                let picture = PicturePart(file, media)
                box.append(picture.widget)
                return picture
            }
            let card = FileCard(file, media)
            box.append(card.widget)
            return card
        }
        box.isVisible = !files.isEmpty
    }

    /// What a sentence about the message says of its files.
    static func spoken(_ files: [MediaReference]) -> String {
        files.map { file in
            let kind = file.isPicture ? translated("Picture") : translated("File")
            return "\(kind) \(file.altText ?? file.name)"
        }.joined(separator: ", ")
    }
}

/// A picture in a message, opened by a click.
private final class PicturePart {
    /// In logical pixels.
    private static let largest = (width: 320, height: 320)
    /// Where nobody told the size of the picture.
    private static let unknown = (width: 240, height: 160)

    let widget: Widget
    private let picture = Widget(borrowing: gtk_picture_new())
    private let save = Button(borrowing: gtk_button_new_from_icon_name("document-save-symbolic"))
    private var loading: Task<Void, Never>?

    init(_ file: MediaReference, _ media: MediaPresenter) {
        let frame = AspectFrame.make()
        let button = Button(borrowing: gtk_button_new())
        button.addStyle("flat")
        button.addStyle("message-picture")
        gtk_widget_set_overflow(button.cast(), GTK_OVERFLOW_HIDDEN)
        gtk_button_set_child(button.cast(), picture.cast())
        button.setAccessibleLabel(file.altText ?? file.name)
        button.tooltip = file.altText ?? file.name
        AspectFrame.of(frame)?.setChild(button)
        let size = Self.shownSize(of: file)
        AspectFrame.of(frame)?.setNaturalSize(width: size.width, height: size.height)
        let overlay = Widget(borrowing: gtk_overlay_new())
        gtk_overlay_set_child(overlay.cast(), frame.cast())
        gtk_widget_set_halign(overlay.cast(), GTK_ALIGN_START)
        widget = overlay
        addSave(file, media)
        button.onClick { [weak media] in media?.open(file) }
        load(file, size, media)
    }

    isolated deinit { loading?.cancel() }

    private func addSave(_ file: MediaReference, _ media: MediaPresenter) {
        save.tooltip = translated("Save")
        save.setAccessibleLabel(translated("Save %s").replacing("%s", with: file.name))
        for style in ["circular", "osd", "attachment-button", "message-picture-save"] { save.addStyle(style) }
        gtk_widget_set_halign(save.cast(), GTK_ALIGN_END)
        gtk_widget_set_valign(save.cast(), GTK_ALIGN_START)
        gtk_overlay_add_overlay(widget.cast(), save.cast())
        save.onClick { [weak self, weak media] in
            if let self { media?.save(file, over: self.widget) }
        }
    }

    private func load(_ file: MediaReference, _ size: (width: Int, height: Int), _ media: MediaPresenter) {
        let scale = max(1, Int(gtk_widget_get_scale_factor(widget.cast())))
        let (width, height) = (size.width * scale, size.height * scale)
        if let ready = media.previews.cached(file, fitting: width, by: height) { return show(ready) }
        loading = Task { [weak self, weak media] in
            guard let decoded = await media?.previews.picture(of: file, fitting: width, by: height) else {
                if !Task.isCancelled { self?.showBroken() }
                return
            }
            if !Task.isCancelled { self?.show(decoded) }
        }
    }

    private func show(_ decoded: Picture) {
        gtk_picture_set_paintable(picture.cast(), decoded.paintable.cast())
    }

    private func showBroken() {
        let theme = gtk_icon_theme_get_for_display(gtk_widget_get_display(widget.cast()))
        let icon = gtk_icon_theme_lookup_icon(
            theme, "image-missing-symbolic", nil, 48, gtk_widget_get_scale_factor(widget.cast()),
            gtk_widget_get_direction(widget.cast()), GtkIconLookupFlags(rawValue: 0))
        guard let icon else { return }
        gtk_picture_set_paintable(picture.cast(), icon)
        gtk_picture_set_content_fit(picture.cast(), GTK_CONTENT_FIT_SCALE_DOWN)
        g_object_unref(UnsafeMutableRawPointer(icon))
    }

    /// Within the largest, in the picture's proportion, and never larger than it is.
    static func shownSize(of file: MediaReference) -> (width: Int, height: Int) {
        guard let width = file.width, let height = file.height, width > 0, height > 0 else { return unknown }
        let scale = min(1, Double(largest.width) / Double(width), Double(largest.height) / Double(height))
        return (max(24, Int(Double(width) * scale)), max(24, Int(Double(height) * scale)))
    }
}

/// A file in a message: what it is, how large, and what to do with it.
private final class FileCard {
    let widget: Widget

    init(_ file: MediaReference, _ media: MediaPresenter) {
        let card = Box(.horizontal, spacing: 9)
        card.addStyle("message-file")
        widget = card
        card.append(Self.icon(file.type))
        card.append(Self.texts(file))
        let open = Self.button("document-open-symbolic", translated("Open"), file)
        open.onClick { [weak media] in media?.open(file) }
        let save = Self.button("document-save-symbolic", translated("Save"), file)
        save.onClick { [weak self, weak media] in
            if let self { media?.save(file, over: self.widget) }
        }
        card.append(open)
        card.append(save)
    }

    private static func icon(_ type: String) -> Widget {
        let icon = Widget(borrowing: gtk_image_new_from_icon_name("text-x-generic-symbolic"))
        if let content = g_content_type_from_mime_type(type) {
            defer { g_free(content) }
            if let symbol = g_content_type_get_symbolic_icon(content) {
                gtk_image_set_from_gicon(icon.cast(), symbol)
                g_object_unref(UnsafeMutableRawPointer(symbol))
            }
        }
        gtk_image_set_pixel_size(icon.cast(), 28)
        return icon
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
        if let bytes = file.bytes {
            let size = Label(ByteCount.text(bytes))
            gtk_label_set_xalign(size.cast(), 0)
            for style in ["caption", "dim-label"] { size.addStyle(style) }
            texts.append(size)
        }
        return texts
    }

    private static func button(_ icon: String, _ name: String, _ file: MediaReference) -> Button {
        let button = Button(borrowing: gtk_button_new_from_icon_name(icon))
        for style in ["flat", "circular"] { button.addStyle(style) }
        gtk_widget_set_valign(button.cast(), GTK_ALIGN_CENTER)
        button.tooltip = name
        button.setAccessibleLabel("\(name) \(file.name)")
        return button
    }
}
