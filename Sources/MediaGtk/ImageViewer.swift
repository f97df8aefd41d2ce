import CGtk
import ChatCore
import GtkKit
import MediaDecoding

/// A modal window that shows an image as large as possible, and steps through the others in the conversation.
final class ImageViewer {
    /// The maximum width and height at which images are decoded, in pixels.
    private static let maxDimension = 8192

    let window: AdwaitaWindow
    let zoom: ZoomableImage
    /// Called when the window has closed.
    var onClose: (() -> Void)?
    private(set) var index = 0
    /// The error message shown in place of the image.
    let message = Label()

    private let media: MediaPresenter
    private let canvas = ZoomableImage.make()
    private let title = WindowTitle()
    private let previous = ImageViewer.button("go-previous-symbolic", translated("Previous Image"))
    private let next = ImageViewer.button("go-next-symbolic", translated("Next Image"))
    private var files: [MediaReference] = []
    private var image: DecodedImage?
    var isDisplayed: Bool { image != nil }
    private var loading: Task<Void, Never>?
    private var player: ImagePlayer?

    init(_ media: MediaPresenter, over widget: Widget) {
        self.media = media
        window = AdwaitaWindow()
        guard let zoom = ZoomableImage.of(canvas) else { fatalError("ParlanceZoomPicture has no implementation") }
        self.zoom = zoom
        build()
        if let parent = widget.root {
            window.setTransient(for: parent)
            window.setDefaultSize(width: parent.width, height: parent.height)
        }
        window.isModal = true
        window.onCloseRequest { [weak self] in
            self?.ended()
            return false
        }
        addKeys()
    }

    // MARK: Images

    func show(_ files: [MediaReference], at index: Int) {
        self.files = files
        show(index)
        window.present()
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
        title.setTitle(file.altText ?? file.name)
        title.setSubtitle(media.texts.position(index, files.count))
        previous.isSensitive = index > 0
        next.isSensitive = index + 1 < files.count
        loading = Task { [weak self, media] in
            do {
                let image = try await media.previews.loadWhole(
                    file, fitting: Self.maxDimension, by: Self.maxDimension)
                if !Task.isCancelled { self?.show(image, of: file) }
            } catch let failure as ImageFailure {
                if !Task.isCancelled { self?.show(failure.problem) }
            } catch {
                if !Task.isCancelled { self?.show(.missingImage(canRetry: false)) }
            }
        }
    }

    /// The thumbnail or placeholder from the timeline, shown until the image is loaded.
    private func hint(of file: MediaReference) -> DecodedImage? {
        let (size, scale) = (ImageContentView.displaySize(of: file), window.scaleFactor)
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

    private func show(_ problem: MediaProblem) {
        message.text = media.texts.problem(problem)
        message.isVisible = true
    }

    private func copy() {
        if let image { window.clipboard.setTexture(image.paintable) }
    }

    private func save() { media.save(files[index], over: window) }

    private func ended() {
        loading?.cancel()
        player = nil
        onClose?()
    }

    // MARK: Building

    private func build() {
        let header = HeaderBar()
        header.addStyle("flat")
        header.titleWidget = title
        let copy = Self.button("parlance-copy-symbolic", translated("Copy Image"))
        let save = Self.button("parlance-save-symbolic", translated("Save"))
        for button in [previous, next] { header.packStart(button) }
        for button in [save, copy] { header.packEnd(button) }
        previous.onClick { [weak self] in self?.go(-1) }
        next.onClick { [weak self] in self?.go(1) }
        copy.onClick { [weak self] in self?.copy() }
        save.onClick { [weak self] in self?.save() }
        let overlay = Overlay()
        overlay.setChild(canvas)
        message.addStyle("title-2")
        message.wrap = true
        message.canTarget = false
        overlay.addOverlay(message)
        let box = Box(.vertical)
        box.append(header)
        box.append(overlay)
        window.setContent(box)
        window.addStyle("picture-viewer")
    }

    private static func button(_ icon: String, _ name: String) -> Button {
        let button = Button(icon: icon)
        button.tooltip = name
        button.setAccessibleLabel(name)
        return button
    }

    private func addKeys() {
        let keys = KeyController(.capture)
        keys.onPress { [weak self] key in
            self?.handleKey(key) ?? false
        }
        window.addController(keys)
    }

    private func handleKey(_ press: KeyPress) -> Bool {
        if press.modifiers.contains(.control) {
            switch press.key {
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
        switch press.key {
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
            window.isFullscreen = !window.isFullscreen
        default: return false
        }
        return true
    }
}
