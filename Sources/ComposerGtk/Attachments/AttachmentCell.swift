import CGtk
import Composer
import GtkKit
import MediaGtk

/// An attachment in the tray: its thumbnail or icon, name, size and upload progress.
final class AttachmentCell {
    /// In logical pixels.
    static let imageWidth = 116
    static let imageHeight = 64

    enum Request {
        case remove, retry, describe, placeInText, move(Int)
    }

    let widget: Widget
    var onRequest: ((Request) -> Void)?
    private(set) var attachment: Attachment?

    private let picture = Widget(sinking: gtk_picture_new())
    private let icon = Widget(sinking: gtk_image_new())
    private let face = Stack(sinking: gtk_stack_new())
    private let name = Label()
    private let detail = Label()
    private let progress = Widget(sinking: gtk_progress_bar_new())
    private let described = Label(translated("ALT"))
    private let remove = Button(sinking: gtk_button_new_from_icon_name("window-close-symbolic"))
    private let inText = Button(sinking: gtk_button_new_from_icon_name("insert-image-symbolic"))
    private let retry = Button(sinking: gtk_button_new_from_icon_name("view-refresh-symbolic"))
    private var displayedSource: String?
    private var loading: Task<Void, Never>?

    init() {
        widget = Widget(sinking: shim_object_new_with_role(gtk_box_get_type(), GTK_ACCESSIBLE_ROLE_LIST_ITEM))
        gtk_orientable_set_orientation(widget.cast(), GTK_ORIENTATION_VERTICAL)
        gtk_widget_set_focusable(widget.cast(), 1)
        widget.addStyle("attachment-cell")
        let top = makeFace()
        gtk_box_append(widget.cast(), top.cast())
        for label in [name, detail] {
            gtk_label_set_ellipsize(label.cast(), PANGO_ELLIPSIZE_MIDDLE)
            gtk_label_set_xalign(label.cast(), 0)
            gtk_label_set_max_width_chars(label.cast(), 1)
            label.addStyle("caption")
            gtk_box_append(widget.cast(), label.cast())
        }
        detail.addStyle("dim-label")
        addKeys()
        addPointer()
    }

    isolated deinit { loading?.cancel() }

    // MARK: Rendering

    /// - Parameter load: Loads the thumbnail, asynchronously.
    func show(_ attachment: Attachment, canRetry: Bool, load: @escaping @MainActor () async -> DecodedImage?) {
        self.attachment = attachment
        let canPlaceInText = attachment.type.hasPrefix("image/") && attachment.upload == .ready
        name.text = attachment.name
        detail.text = detailText(attachment)
        widget.tooltip = attachment.altText ?? attachment.name
        widget.setAccessibleLabel([attachment.name, detail.text].joined(separator: ", "))
        widget.setAccessibleDescription(
            attachment.altText
                ?? (canPlaceInText
                    ? translated(
                        "Delete removes it, Return describes it, Insert puts it in the text, Alt with an arrow moves it"
                    )
                    : translated("Delete removes it, Return describes it, Alt with an arrow moves it")))
        inText.isVisible = canPlaceInText
        widget.setStyle("failed", attachment.upload == .failed)
        described.isVisible = attachment.altText != nil
        retry.isVisible = canRetry
        if case .running(let fraction) = attachment.upload {
            gtk_progress_bar_set_fraction(progress.cast(), fraction)
            progress.isVisible = true
        } else {
            progress.isVisible = false
        }
        remove.setAccessibleLabel(translated("Remove %s").replacing("%s", with: attachment.name))
        showFace(attachment, load)
    }

    private func detailText(_ attachment: Attachment) -> String {
        switch attachment.upload {
        case .ready: ByteCount.text(attachment.bytes)
        case .running: translated("Adding…") + " " + ByteCount.text(attachment.bytes)
        case .failed: translated("Could not be added")
        }
    }

    private func showFace(_ attachment: Attachment, _ load: @escaping @MainActor () async -> DecodedImage?) {
        guard attachment.source != displayedSource || displayedSource == nil else { return }
        displayedSource = attachment.source
        loading?.cancel()
        if face.visibleChild != "picture" { showIcon(attachment.type) }
        guard attachment.upload == .ready, attachment.type.hasPrefix("image/") else { return }
        loading = Task { [weak self] in
            guard let image = await load(), !Task.isCancelled, let self else { return }
            gtk_picture_set_paintable(self.picture.cast(), image.paintable.cast())
            self.face.visibleChild = "picture"
        }
    }

    private func showIcon(_ type: String) {
        guard let content = g_content_type_from_mime_type(type) else { return }
        defer { g_free(content) }
        guard let symbol = g_content_type_get_symbolic_icon(content) else { return }
        defer { g_object_unref(UnsafeMutableRawPointer(symbol)) }
        gtk_image_set_from_gicon(icon.cast(), symbol)
        face.visibleChild = "icon"
    }

    // MARK: Building

    private func makeFace() -> Widget {
        gtk_picture_set_content_fit(picture.cast(), GTK_CONTENT_FIT_COVER)
        gtk_image_set_pixel_size(icon.cast(), 32)
        gtk_stack_add_named(face.cast(), icon.cast(), "icon")
        // AspectFrame limits the height: GtkPicture's natural height grows with its width.
        let frame = AspectFrame.make()
        AspectFrame.of(frame)?.setChild(picture)
        AspectFrame.of(frame)?.setNaturalSize(width: Self.imageWidth, height: Self.imageHeight)
        gtk_stack_add_named(face.cast(), frame.cast(), "picture")
        face.addStyle("attachment-face")
        gtk_widget_set_overflow(face.cast(), GTK_OVERFLOW_HIDDEN)
        gtk_widget_set_size_request(face.cast(), gint(Self.imageWidth), gint(Self.imageHeight))
        let overlay = Widget(sinking: gtk_overlay_new())
        gtk_overlay_set_child(overlay.cast(), face.cast())
        progress.addStyle("osd")
        described.addStyle("attachment-badge")
        addOverlay(progress, in: overlay, GTK_ALIGN_FILL, GTK_ALIGN_END)
        addOverlay(described, in: overlay, GTK_ALIGN_START, GTK_ALIGN_END)
        addOverlay(remove, in: overlay, GTK_ALIGN_END, GTK_ALIGN_START)
        addOverlay(inText, in: overlay, GTK_ALIGN_END, GTK_ALIGN_END)
        addOverlay(retry, in: overlay, GTK_ALIGN_CENTER, GTK_ALIGN_CENTER)
        for button in [remove, inText, retry] {
            for style in ["circular", "osd", "attachment-button"] { button.addStyle(style) }
            // Not focusable: the focused cell handles the same actions by keys.
            gtk_widget_set_focusable(button.cast(), 0)
        }
        remove.tooltip = translated("Remove (Delete)")
        inText.tooltip = translated("Put in the Text (Insert)")
        inText.setAccessibleLabel(translated("Put in the Text"))
        inText.onClick { [weak self] in self?.onRequest?(.placeInText) }
        retry.tooltip = translated("Try Again")
        retry.setAccessibleLabel(translated("Try Again"))
        remove.onClick { [weak self] in self?.onRequest?(.remove) }
        retry.onClick { [weak self] in self?.onRequest?(.retry) }
        return overlay
    }

    private func addOverlay(_ child: Widget, in overlay: Widget, _ horizontal: GtkAlign, _ vertical: GtkAlign) {
        gtk_widget_set_halign(child.cast(), horizontal)
        gtk_widget_set_valign(child.cast(), vertical)
        gtk_overlay_add_overlay(overlay.cast(), child.cast())
    }

    private func addKeys() {
        let keys = Object(owning: UnsafeMutableRawPointer(gtk_event_controller_key_new()))
        keys.intercept("key-pressed") { [weak self] arguments in
            guard
                let request = Self.request(
                    forKey: Int32(bitPattern: arguments.uint(0)), GdkModifierType(arguments.flags(2)))
            else { return false }
            self?.onRequest?(request)
            return true
        }
        widget.addController(keys)
    }

    private static func request(forKey key: Int32, _ modifiers: GdkModifierType) -> Request? {
        let alt = modifiers.rawValue & GDK_ALT_MASK.rawValue != 0
        switch key {
        case GDK_KEY_Delete, GDK_KEY_KP_Delete, GDK_KEY_BackSpace: return .remove
        case GDK_KEY_Return, GDK_KEY_KP_Enter, GDK_KEY_space, GDK_KEY_F2: return .describe
        case GDK_KEY_Insert, GDK_KEY_KP_Insert: return .placeInText
        case GDK_KEY_Left where alt: return .move(-1)
        case GDK_KEY_Right where alt: return .move(1)
        default: return nil
        }
    }

    private func addPointer() {
        let click = Object(owning: UnsafeMutableRawPointer(gtk_gesture_click_new()))
        click.connect("released") { [weak self] _ in
            self?.widget.grabFocus()
            self?.onRequest?(.describe)
        }
        widget.addController(click)
    }
}
