import CGtk
import Composer
import ComposerSessions
import GtkKit
import MediaGtk

/// An attachment in the tray: its thumbnail or icon, name, size and upload progress.
final class AttachmentCell {
    /// In logical pixels.
    static let imageWidth = 116
    static let imageHeight = 64

    nonisolated enum Request: Equatable {
        case remove, retry, describe, placeInText, move(Int)
    }

    let widget = Box(.vertical, role: GTK_ACCESSIBLE_ROLE_LIST_ITEM)
    var onRequest: ((Request) -> Void)?
    private(set) var attachment: Attachment?
    private var canRetry = false

    private let picture = Picture()
    private let icon = Image()
    private let face = Stack()
    private let name = Label()
    private let detail = Label()
    let progress = ProgressBar()
    private let described = Label(translated("ALT"))
    /// Marks the poster of a video, which would look like an image.
    private let film = Image(icon: FileIcon.name(ofType: "video/*"))
    private let remove = Button(icon: "parlance-close-symbolic")
    private let inText = Button(icon: "parlance-image-symbolic")
    private let retry = Button(icon: "parlance-retry-symbolic")
    private var displayedSource: String?
    private var loading: Task<Void, Never>?

    init() {
        widget.isFocusable = true
        widget.addStyle("attachment-cell")
        let top = makeFace()
        widget.append(top)
        // Truncate the middle of a file name, to keep its extension, but the end of the detail line.
        name.setEllipsize(.middle)
        detail.setEllipsize(.end)
        for label in [name, detail] {
            label.xalign = 0
            label.maxWidthChars = 1
            label.addStyle("caption")
            widget.append(label)
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
        self.canRetry = canRetry
        let text = AttachmentText.desktop
        name.text = attachment.name
        detail.text = text.detail(attachment)
        widget.tooltip = text.tooltip(attachment)
        widget.setAccessibleLabel(text.accessibleText(attachment))
        widget.setAccessibleDescription(text.accessibleDescription(attachment, canRetry: canRetry))
        inText.isVisible = attachment.canBePlacedInText
        widget.setStyle("failed", attachment.upload == .failed)
        described.isVisible = attachment.altText != nil
        retry.isVisible = canRetry
        if case .running(let fraction) = attachment.upload {
            progress.fraction = fraction
            progress.isVisible = true
        } else {
            progress.isVisible = false
        }
        remove.setAccessibleLabel(text.removeButton(attachment))
        showFace(attachment, load)
    }

    private func showFace(_ attachment: Attachment, _ load: @escaping @MainActor () async -> DecodedImage?) {
        guard attachment.source != displayedSource || displayedSource == nil else { return }
        displayedSource = attachment.source
        loading?.cancel()
        if face.visibleChild != "picture" { showIcon(attachment.type) }
        guard attachment.upload == .ready, attachment.isImage || attachment.isVideo else { return }
        loading = Task { [weak self] in
            guard let image = await load(), !Task.isCancelled, let self else { return }
            self.picture.paintable = image.paintable
            self.face.visibleChild = "picture"
            self.film.isVisible = attachment.isVideo
        }
    }

    private func showIcon(_ type: String) {
        icon.iconName = FileIcon.name(ofType: type)
        face.visibleChild = "icon"
        film.isVisible = false
    }

    // MARK: Building

    private func makeFace() -> Widget {
        picture.fillArea()
        icon.pixelSize = 32
        face.add(icon, name: "icon")
        // AspectFrame limits the height: GtkPicture's natural height grows with its width.
        let frame = AspectFrame.make()
        AspectFrame.of(frame)?.setChild(picture)
        AspectFrame.of(frame)?.setNaturalSize(width: Self.imageWidth, height: Self.imageHeight)
        face.add(frame, name: "picture")
        face.addStyle("attachment-face")
        face.overflow = .hidden
        face.setSizeRequest(width: Self.imageWidth, height: Self.imageHeight)
        let overlay = Overlay()
        overlay.setChild(face)
        progress.addStyle("osd")
        for badge in [described, film] { badge.addStyle("attachment-badge") }
        film.isVisible = false
        film.hideFromAccessibility()
        addOverlay(progress, in: overlay, .fill, .end)
        addOverlay(described, in: overlay, .start, .end)
        addOverlay(film, in: overlay, .start, .start)
        addOverlay(remove, in: overlay, .end, .start)
        addOverlay(inText, in: overlay, .end, .end)
        addOverlay(retry, in: overlay, .center, .center)
        for button in [remove, inText, retry] {
            for style in ["circular", "osd", "attachment-button"] { button.addStyle(style) }
            // Not focusable: the focused cell handles the same actions by keys.
            button.isFocusable = false
        }
        remove.tooltip = translated("Remove (Delete)")
        inText.tooltip = translated("Place in Text (Insert)")
        inText.setAccessibleLabel(translated("Place in Text"))
        inText.onClick { [weak self] in self?.onRequest?(.placeInText) }
        retry.tooltip = translated("Retry (Return)")
        retry.setAccessibleLabel(translated("Retry"))
        remove.onClick { [weak self] in self?.onRequest?(.remove) }
        retry.onClick { [weak self] in self?.onRequest?(.retry) }
        return overlay
    }

    private func addOverlay(_ child: Widget, in overlay: Overlay, _ horizontal: Alignment, _ vertical: Alignment) {
        child.halign = horizontal
        child.valign = vertical
        overlay.addOverlay(child)
    }

    private func addKeys() {
        let keys = KeyController()
        keys.onPress { [weak self] key in
            guard let self, let request = self.request(for: key) else { return false }
            self.onRequest?(request)
            return true
        }
        widget.addController(keys)
    }

    private func request(for press: KeyPress) -> Request? {
        let alt = press.modifiers.contains(.alt)
        // From right to left, the next file is on the left.
        let right = widget.isRightToLeft ? -1 : 1
        switch press.key {
        case GDK_KEY_Delete, GDK_KEY_KP_Delete, GDK_KEY_BackSpace: return .remove
        case GDK_KEY_Return, GDK_KEY_KP_Enter: return canRetry ? .retry : .describe
        case GDK_KEY_space, GDK_KEY_F2: return .describe
        case GDK_KEY_Insert, GDK_KEY_KP_Insert: return .placeInText
        case GDK_KEY_Left where alt: return .move(-right)
        case GDK_KEY_Right where alt: return .move(right)
        default: return nil
        }
    }

    private func addPointer() {
        let click = ClickGesture()
        click.onRelease { [weak self] _ in
            self?.widget.grabFocus()
            self?.onRequest?(.describe)
        }
        widget.addController(click)
    }
}
