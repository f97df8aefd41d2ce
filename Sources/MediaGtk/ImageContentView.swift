import CGtk
package import ChatCore
package import GtkKit
import MediaDecoding

/// An image in a message, which opens the viewer on click.
@MainActor package final class ImageContentView {
    /// In logical pixels.
    private static let maxSize = (width: 320, height: 320)
    /// The display size of an image of unknown dimensions.
    private static let unknown = (width: 240, height: 160)

    package let widget: Widget
    private let picture = Widget(sinking: gtk_picture_new())
    private let save = Button(sinking: gtk_button_new_from_icon_name("document-save-symbolic"))
    let button = Button(sinking: gtk_button_new())
    private var loading: Task<Void, Never>?
    private(set) var player: ImagePlayer?
    /// Why the image is not shown, as displayed to the user.
    private(set) var problem: String?
    /// Whether the content is unavailable, in which case a click retries.
    private var isMissing = false
    private(set) var isDisplayed = false
    /// Whether a placeholder is visible.
    var showsPlaceholder: Bool { !isDisplayed && gtk_picture_get_paintable(picture.cast()) != nil }

    package init(_ file: MediaReference, _ media: MediaPresenter) {
        let frame = AspectFrame.make()
        button.addStyle("flat")
        button.addStyle("message-picture")
        gtk_widget_set_overflow(button.cast(), GTK_OVERFLOW_HIDDEN)
        gtk_button_set_child(button.cast(), picture.cast())
        AspectFrame.of(frame)?.setChild(button)
        let size = Self.displaySize(of: file)
        AspectFrame.of(frame)?.setNaturalSize(width: size.width, height: size.height)
        let overlay = Widget(sinking: gtk_overlay_new())
        gtk_overlay_set_child(overlay.cast(), frame.cast())
        gtk_widget_set_halign(overlay.cast(), GTK_ALIGN_START)
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
        if let ready = media.previews.cached(file, fitting: width, by: height) {
            return show(ready, file, (width, height), media)
        }
        if let ready = media.previews.cachedPlaceholder(of: file) { hint(ready) }
        loading = Task { [weak self, weak media] in
            if self?.showsPlaceholder == false, let drawn = await media?.previews.placeholder(of: file) {
                self?.hint(drawn)
            }
            do {
                guard let decoded = try await media?.previews.load(file, fitting: width, by: height) else { return }
                if let media, !Task.isCancelled { self?.show(decoded, file, (width, height), media) }
            } catch let failure as ImageFailure {
                if !Task.isCancelled { self?.showProblem(failure.explanation) }
            } catch {
                if !Task.isCancelled { self?.showMissing() }
            }
        }
    }

    private func loadAgain(_ file: MediaReference, _ size: (width: Int, height: Int), _ media: MediaPresenter) {
        (problem, isMissing) = (nil, false)
        gtk_button_set_child(button.cast(), picture.cast())
        describe(file)
        load(file, size, media)
    }

    private func showMissing() {
        isMissing = true
        showProblem(translated("This picture is not to be had now. Try again?"), icon: "view-refresh-symbolic")
    }

    private func describe(_ file: MediaReference) {
        button.setAccessibleLabel(file.altText ?? file.name)
        button.tooltip = file.altText ?? file.name
    }

    private func hint(_ placeholder: DecodedImage) {
        gtk_picture_set_paintable(picture.cast(), placeholder.paintable.cast())
    }

    private func show(
        _ decoded: DecodedImage, _ file: MediaReference, _ size: (width: Int, height: Int), _ media: MediaPresenter
    ) {
        isDisplayed = true
        gtk_picture_set_paintable(picture.cast(), decoded.paintable.cast())
        guard decoded.isAnimated else { return }
        player = ImagePlayer(file, media.previews, fitting: size.width, by: size.height, in: picture) {
            [weak picture] in
            if let picture { gtk_picture_set_paintable(picture.cast(), $0.paintable.cast()) }
        }
    }

    private func showProblem(_ text: String, icon: String = "image-missing-symbolic") {
        problem = text
        let icon = Widget(sinking: gtk_image_new_from_icon_name(icon))
        gtk_image_set_pixel_size(icon.cast(), 32)
        let label = Label(text)
        label.addStyle("message-picture-problem")
        gtk_label_set_wrap(label.cast(), 1)
        gtk_label_set_justify(label.cast(), GTK_JUSTIFY_CENTER)
        let box = Box(.vertical, spacing: 6)
        box.addStyle("dim-label")
        gtk_widget_set_valign(box.cast(), GTK_ALIGN_CENTER)
        box.append(icon)
        box.append(label)
        gtk_button_set_child(button.cast(), box.cast())
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

extension ImageFailure {
    /// The message for the user.
    var explanation: String {
        switch self {
        case .unknownFormat: translated("This kind of picture is not shown here")
        case .tooLarge: translated("This picture is too large to be shown")
        case .broken: translated("This picture is damaged")
        case .stopped: translated("This picture could not be shown")
        }
    }
}
