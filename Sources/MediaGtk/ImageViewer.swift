import CGtk
import ChatCore
import GtkKit
import MediaDecoding

/// A modal window that shows an image as large as possible, and steps through the others in the conversation.
final class ImageViewer {
    /// The maximum width and height at which images are decoded, in pixels.
    private static let maxDimension = 8192

    let window: Widget
    let zoom: ZoomableImage
    /// Called when the window has closed.
    var onClose: (() -> Void)?
    private(set) var index = 0
    /// The error message shown in place of the image.
    let message = Label()

    private let media: MediaPresenter
    private let canvas = ZoomableImage.make()
    private let title = Widget(sinking: adw_window_title_new("", nil))
    private let previous = ImageViewer.button("go-previous-symbolic", translated("Previous Picture"))
    private let next = ImageViewer.button("go-next-symbolic", translated("Next Picture"))
    private var files: [MediaReference] = []
    private var image: DecodedImage?
    var isDisplayed: Bool { image != nil }
    private var loading: Task<Void, Never>?
    private var player: ImagePlayer?

    init(_ media: MediaPresenter, over widget: Widget) {
        self.media = media
        window = Widget(sinking: adw_window_new())
        guard let zoom = ZoomableImage.of(canvas) else { fatalError("ParlanceZoomPicture has no implementation") }
        self.zoom = zoom
        build()
        if let parent = gtk_widget_get_root(widget.cast()) {
            let parent = Widget(borrowing: UnsafeMutableRawPointer(parent))
            gtk_window_set_transient_for(window.cast(), parent.cast())
            gtk_window_set_default_size(window.cast(), gint(parent.width), gint(parent.height))
        }
        gtk_window_set_modal(window.cast(), 1)
        window.connect("close-request") { [weak self] _ in self?.ended() }
        addKeys()
    }

    // MARK: Images

    func show(_ files: [MediaReference], at index: Int) {
        self.files = files
        show(index)
        gtk_window_present(window.cast())
    }

    /// - Parameter step: 1 for the next image, -1 for the previous one.
    func go(_ step: Int) {
        if files.indices.contains(index + step) { show(index + step) }
    }

    private func show(_ index: Int) {
        self.index = index
        let file = files[index]
        loading?.cancel()
        player = nil
        image = nil
        message.isVisible = false
        let hint = hint(of: file)
        zoom.show(
            hint?.paintable, width: file.width ?? hint?.width ?? 1, height: file.height ?? hint?.height ?? 1,
            keepsPosition: false)
        zoom.widget.setAccessibleLabel(file.altText ?? file.name)
        adw_window_title_set_title(title.cast(), file.altText ?? file.name)
        let positionText = translated("%1 of %2").replacing("%1", with: "\(index + 1)").replacing(
            "%2", with: "\(files.count)")
        adw_window_title_set_subtitle(title.cast(), files.count > 1 ? positionText : nil)
        gtk_widget_set_sensitive(previous.cast(), index > 0 ? 1 : 0)
        gtk_widget_set_sensitive(next.cast(), index + 1 < files.count ? 1 : 0)
        loading = Task { [weak self, media] in
            do {
                let image = try await media.previews.loadWhole(
                    file, fitting: Self.maxDimension, by: Self.maxDimension)
                if !Task.isCancelled { self?.show(image, of: file) }
            } catch let failure as ImageFailure {
                if !Task.isCancelled { self?.show(failure.explanation) }
            } catch {
                if !Task.isCancelled { self?.show(translated("This picture is not to be had now.")) }
            }
        }
    }

    /// The thumbnail or placeholder from the timeline, shown until the image is loaded.
    private func hint(of file: MediaReference) -> DecodedImage? {
        let (size, scale) = (
            ImageContentView.displaySize(of: file), max(1, Int(gtk_widget_get_scale_factor(window.cast())))
        )
        let small = media.previews.cached(file, fitting: size.width * scale, by: size.height * scale)
        return small ?? media.previews.cachedPlaceholder(of: file)
    }

    private func show(_ image: DecodedImage, of file: MediaReference) {
        self.image = image
        let (width, height) = (image.width, image.height)
        // Keep the user's position if the preview had the same dimensions.
        zoom.show(
            image.paintable, width: width, height: height,
            keepsPosition: file.width == width && file.height == height)
        guard image.isAnimated else { return }
        player = ImagePlayer(file, media.previews, fitting: width, by: height, in: canvas) { [weak self] in
            self?.zoom.show($0.paintable, width: width, height: height, keepsPosition: true)
        }
    }

    private func show(_ problem: String) {
        message.text = problem
        message.isVisible = true
    }

    private func copy() {
        guard let image, let clipboard = gtk_widget_get_clipboard(window.cast()) else { return }
        gdk_clipboard_set_texture(clipboard, image.paintable.cast())
    }

    private func save() { media.save(files[index], over: window) }

    private func ended() {
        loading?.cancel()
        player = nil
        onClose?()
    }

    // MARK: Building

    private func build() {
        let header = Widget(sinking: adw_header_bar_new())
        header.addStyle("flat")
        adw_header_bar_set_title_widget(header.cast(), title.cast())
        let copy = Self.button("edit-copy-symbolic", translated("Copy Picture"))
        let save = Self.button("document-save-symbolic", translated("Save"))
        for button in [previous, next] { adw_header_bar_pack_start(header.cast(), button.cast()) }
        for button in [save, copy] { adw_header_bar_pack_end(header.cast(), button.cast()) }
        previous.onClick { [weak self] in self?.go(-1) }
        next.onClick { [weak self] in self?.go(1) }
        copy.onClick { [weak self] in self?.copy() }
        save.onClick { [weak self] in self?.save() }
        let overlay = Widget(sinking: gtk_overlay_new())
        gtk_overlay_set_child(overlay.cast(), canvas.cast())
        message.addStyle("title-2")
        gtk_label_set_wrap(message.cast(), 1)
        gtk_widget_set_can_target(message.cast(), 0)
        gtk_overlay_add_overlay(overlay.cast(), message.cast())
        let box = Box(.vertical)
        box.append(header)
        box.append(overlay)
        adw_window_set_content(window.cast(), box.cast())
        window.addStyle("picture-viewer")
    }

    private static func button(_ icon: String, _ name: String) -> Button {
        let button = Button(sinking: gtk_button_new_from_icon_name(icon))
        button.tooltip = name
        button.setAccessibleLabel(name)
        return button
    }

    private func addKeys() {
        let keys = Object(owning: UnsafeMutableRawPointer(gtk_event_controller_key_new()))
        gtk_event_controller_set_propagation_phase(keys.cast(), GTK_PHASE_CAPTURE)
        keys.intercept("key-pressed") { [weak self] arguments in
            self?.handleKey(Int32(bitPattern: arguments.uint(0)), GdkModifierType(arguments.flags(2))) ?? false
        }
        window.addController(keys)
    }

    private func handleKey(_ key: Int32, _ modifiers: GdkModifierType) -> Bool {
        if modifiers.rawValue & GDK_CONTROL_MASK.rawValue != 0 {
            switch key {
            case GDK_KEY_c: copy()
            case GDK_KEY_s: save()
            case GDK_KEY_w: window.closeWindow()
            case GDK_KEY_plus, GDK_KEY_equal, GDK_KEY_KP_Add: zoom.zoomIn()
            case GDK_KEY_minus, GDK_KEY_KP_Subtract: zoom.zoomOut()
            case GDK_KEY_0, GDK_KEY_KP_0: zoom.fit()
            default: return false
            }
            return true
        }
        switch key {
        case GDK_KEY_Escape: window.closeWindow()
        case GDK_KEY_Left, GDK_KEY_KP_Left, GDK_KEY_Page_Up: go(-1)
        case GDK_KEY_Right, GDK_KEY_KP_Right, GDK_KEY_Page_Down: go(1)
        case GDK_KEY_Home: if !files.isEmpty { show(0) }
        case GDK_KEY_End: if !files.isEmpty { show(files.count - 1) }
        case GDK_KEY_plus, GDK_KEY_equal, GDK_KEY_KP_Add: zoom.zoomIn()
        case GDK_KEY_minus, GDK_KEY_KP_Subtract: zoom.zoomOut()
        case GDK_KEY_0, GDK_KEY_KP_0: zoom.fit()
        case GDK_KEY_1, GDK_KEY_KP_1: zoom.showActualSize()
        case GDK_KEY_F11:
            if gtk_window_is_fullscreen(window.cast()) != 0 {
                gtk_window_unfullscreen(window.cast())
            } else {
                gtk_window_fullscreen(window.cast())
            }
        default: return false
        }
        return true
    }
}
