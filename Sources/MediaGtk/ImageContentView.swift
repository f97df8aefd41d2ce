package import ChatCore
package import GtkKit
import MediaDecoding

/// An image in a message, which opens the viewer on click.
@MainActor package final class ImageContentView {
    /// In logical pixels.
    private static let maxSize = (width: 320, height: 320)
    /// The display size of an image of unknown dimensions.
    private static let unknown = (width: 240, height: 160)

    package let widget: Overlay
    private let picture = Picture()
    private let save = Button(icon: "parlance-save-symbolic")
    let button = Button()
    private var loading: Task<Void, Never>?
    private(set) var player: ImagePlayer?
    /// Starts and stops an animation as the preference says.
    private var animation: Rendering?
    /// Why the image is not shown, as displayed to the user.
    private(set) var problem: String?
    /// Whether the content is unavailable, in which case a click retries.
    private var isMissing = false
    private let texts: MediaTexts
    /// The scale of the window for which the image was loaded.
    private var loadedScale = 1
    private(set) var isDisplayed = false
    /// Whether a placeholder is visible.
    var showsPlaceholder: Bool { !isDisplayed && picture.paintable != nil }

    package init(_ file: MediaReference, _ media: MediaPresenter) {
        texts = media.texts
        let frame = AspectFrame.make()
        button.addStyle("flat")
        button.addStyle("message-picture")
        button.overflow = .hidden
        button.setChild(picture)
        AspectFrame.of(frame)?.setChild(button)
        let size = Self.displaySize(of: file)
        AspectFrame.of(frame)?.setNaturalSize(width: size.width, height: size.height)
        let overlay = Overlay()
        overlay.setChild(frame)
        overlay.halign = .start
        widget = overlay
        describe(file)
        addSave(file, media)
        button.onClick { [weak self, weak media] in
            guard let self else { return }
            if problem == nil {
                media?.view(file, over: widget)
            } else if isMissing {
                if let media { loadAgain(file, size, media) }
            } else {
                // Another program may support it.
                media?.open(file)
            }
        }
        load(file, size, media)
        // Before it is in a window, the scale is that of any monitor.
        let update = { [weak self, weak media] in
            guard let self, let media, problem == nil, loadedScale != widget.scaleFactor else { return }
            loading?.cancel()
            load(file, size, media, isRequested: isDisplayed)
        }
        widget.onMap { _ in update() }
        widget.connect("notify::scale-factor") { _ in update() }
    }

    isolated deinit { loading?.cancel() }

    private func addSave(_ file: MediaReference, _ media: MediaPresenter) {
        save.tooltip = translated("Save")
        save.setAccessibleLabel(translated("Save {name}", ["name": file.name]))
        for style in ["circular", "osd", "attachment-button", "message-picture-save"] { save.addStyle(style) }
        save.halign = .end
        save.valign = .start
        widget.addOverlay(save)
        save.onClick { [weak self, weak media] in
            if let self { media?.save(file, over: self.widget) }
        }
    }

    /// - Parameter isRequested: whether the user asked for the image.
    private func load(
        _ file: MediaReference, _ size: (width: Int, height: Int), _ media: MediaPresenter, isRequested: Bool = false
    ) {
        let scale = widget.scaleFactor
        loadedScale = scale
        let (width, height) = (size.width * scale, size.height * scale)
        if let ready = media.previews.cached(file, fitting: width, by: height) {
            return show(ready, file, (width, height), media)
        }
        // What is displayed stays until it is replaced, in another size.
        let isDisplayed = isDisplayed
        if !isDisplayed, let ready = media.previews.cachedPlaceholder(of: file) { hint(ready) }
        loading = Task { [weak self, weak media] in
            if !isDisplayed, self?.showsPlaceholder == false,
                let drawn = await media?.previews.placeholder(of: file), !Task.isCancelled
            {
                self?.hint(drawn)
            }
            if !isRequested, let media, !media.preferences().loadsAutomatically(file),
                await !media.previews.isStored(file)
            {
                if !Task.isCancelled {
                    self?.showMissing(.notLoaded(bytes: file.bytes), icon: "parlance-image-symbolic")
                }
                return
            }
            do {
                guard let decoded = try await media?.previews.load(file, fitting: width, by: height) else { return }
                if let media, !Task.isCancelled { self?.show(decoded, file, (width, height), media) }
            } catch let failure as ImageFailure {
                if !Task.isCancelled, !isDisplayed { self?.showProblem(failure.problem) }
            } catch {
                if !Task.isCancelled, !isDisplayed { self?.showMissing() }
            }
        }
    }

    private func loadAgain(_ file: MediaReference, _ size: (width: Int, height: Int), _ media: MediaPresenter) {
        (problem, isMissing) = (nil, false)
        button.setChild(picture)
        describe(file)
        load(file, size, media, isRequested: true)
    }

    private func showMissing(
        _ problem: MediaProblem = .missingImage(canRetry: true), icon: String = "parlance-retry-symbolic"
    ) {
        isMissing = true
        showProblem(problem, icon: icon)
    }

    private func describe(_ file: MediaReference) {
        button.setAccessibleLabel(file.altText ?? file.name)
        button.tooltip = file.altText ?? file.name
    }

    private func hint(_ placeholder: DecodedImage) {
        picture.paintable = placeholder.paintable
    }

    private func show(
        _ decoded: DecodedImage, _ file: MediaReference, _ size: (width: Int, height: Int), _ media: MediaPresenter
    ) {
        isDisplayed = true
        picture.paintable = decoded.paintable
        animation = nil
        player = nil
        guard decoded.isAnimated else { return }
        animation = Rendering({ [weak media] in media?.preferences().playsAnimations == true }) {
            [weak self, weak media] isPlaying in
            guard let self, let media else { return }
            player = isPlaying ? makePlayer(file, size, media.previews) : nil
        }
    }

    private func makePlayer(
        _ file: MediaReference, _ size: (width: Int, height: Int), _ previews: MediaPreviews
    ) -> ImagePlayer {
        ImagePlayer(file, previews, fitting: size.width, by: size.height, in: picture) { [weak picture] in
            if let picture { picture.paintable = $0.paintable }
        }
    }

    private func showProblem(_ problem: MediaProblem, icon: String = "image-missing-symbolic") {
        let text = texts.problem(problem)
        self.problem = text
        let icon = Image(icon: icon)
        icon.pixelSize = 32
        let label = Label(text)
        label.addStyle("message-picture-problem")
        label.wrap = true
        label.setJustify(.center)
        let box = Box(.vertical, spacing: 6)
        box.addStyle("dim-label")
        box.valign = .center
        box.append(icon)
        box.append(label)
        button.setChild(box)
        button.tooltip = text
        button.setAccessibleLabel(text)
    }

    /// The image's size, scaled down to the maximum size while keeping its aspect ratio.
    static func displaySize(of file: MediaReference) -> (width: Int, height: Int) {
        guard let width = file.width, let height = file.height, width > 0, height > 0 else { return unknown }
        let scale = min(1, Double(maxSize.width) / Double(width), Double(maxSize.height) / Double(height))
        return (max(24, Int(Double(width) * scale)), max(24, Int(Double(height) * scale)))
    }
}
