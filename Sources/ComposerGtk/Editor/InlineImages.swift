import CGtk
import Composer
import ComposerSessions
import GtkKit

/// Images in the text (MIB-19): child widgets of the text view, anchored at the characters that represent them, and
/// rescaled when the text's width changes (MIB-21).
final class InlineImages {
    /// Decodes an attachment's image to fit within a size in pixels, or returns `nil` if it cannot be displayed.
    var load: ((Attachment, _ width: Int, _ height: Int) async -> DecodedImage?)? {
        didSet { images.forEach { loadImage(of: $0) } }
    }

    /// Called when the first image is added and when the last one is removed.
    var onPresence: ((Bool) -> Void)?

    /// The maximum height of an image in the text, in logical pixels.
    static let maxHeight = 180.0

    private final class InlineImage {
        let source: String
        let widget: Picture
        let anchor: TextChildAnchor
        var attachment: Attachment?
        var loading: Task<Void, Never>?

        init(source: String, widget: Picture, anchor: TextChildAnchor) {
            self.source = source
            self.widget = widget
            self.anchor = anchor
        }
    }

    private let textView: TextView
    private let buffer: TextBuffer
    private var images: [InlineImage] = []
    /// The text view's width, in pixels.
    private var width = 0

    init(textView: TextView, buffer: TextBuffer) {
        self.textView = textView
        self.buffer = buffer
    }

    isolated deinit { images.forEach { $0.loading?.cancel() } }

    /// Anchors widgets at the characters that represent images. Leaves the buffer's text as it is, but may move the
    /// caret, which the caller has to restore.
    ///
    /// - Returns: Whether the buffer was modified.
    func update(_ document: ComposerDocument, _ attachments: [Attachment]) -> Bool {
        let wasEmpty = images.isEmpty
        defer { if images.isEmpty != wasEmpty { onPresence?(!images.isEmpty) } }
        images.removeAll { entry in
            let isDeleted = entry.anchor.isDeleted
            if isDeleted { entry.loading?.cancel() }
            return isDeleted
        }
        var isTouched = false
        for span in document.images {
            guard let source = span.imageSource else { continue }
            let attachment = attachments.first { $0.source == source }
            if let entry = entry(at: document.scalarOffset(ofUTF16: span.range.location)), entry.source == source {
                describe(entry, attachment)
            } else {
                insert(source, attachment, at: document.scalarOffset(ofUTF16: span.range.location))
                isTouched = true
            }
        }
        return isTouched
    }

    private func entry(at offset: Int) -> InlineImage? {
        guard let anchor = buffer.iterator(at: offset).childAnchor else { return nil }
        return images.first { $0.anchor.isSame(as: anchor) }
    }

    private func insert(_ source: String, _ attachment: Attachment?, at offset: Int) {
        guard let anchor = buffer.replaceWithAnchor(at: offset) else { return }
        let widget = Picture(role: GTK_ACCESSIBLE_ROLE_IMG)
        widget.canShrink = true
        widget.addStyle("inline-picture")
        widget.overflow = .hidden
        textView.add(widget, at: anchor)
        let entry = InlineImage(source: source, widget: widget, anchor: anchor)
        images.append(entry)
        describe(entry, attachment)
    }

    private func describe(_ entry: InlineImage, _ attachment: Attachment?) {
        guard entry.attachment != attachment || attachment == nil else { return }
        entry.attachment = attachment
        let name = AttachmentText.desktop.inlineImage(attachment)
        entry.widget.setAccessibleLabel(name)
        entry.widget.tooltip = name
        scale(entry)
        // The file may be attached after its image is in the text.
        loadImage(of: entry)
    }

    private func loadImage(of entry: InlineImage) {
        guard entry.loading == nil, let load, let attachment = entry.attachment, attachment.upload == .ready else {
            return
        }
        let factor = Double(textView.scaleFactor)
        let size = ComposerSize(width: 4096, height: Self.maxHeight * factor)
        entry.loading = Task { [weak entry] in
            guard let image = await load(attachment, Int(size.width), Int(size.height)), !Task.isCancelled else {
                return
            }
            entry.map { $0.widget.paintable = image.paintable }
        }
    }

    // MARK: Size

    /// - Parameter width: The text view's width, in pixels.
    func fit(width: Int) {
        guard width != self.width else { return }
        self.width = width
        images.forEach { scale($0) }
    }

    private func scale(_ entry: InlineImage) {
        // Reserve a probable size for an image of unknown dimensions.
        let natural = ComposerSize(
            width: Double(entry.attachment?.width ?? 240), height: Double(entry.attachment?.height ?? 180))
        let size = natural.scaled(
            toWidth: width > 0 ? Double(width) : natural.width, maxHeight: Self.maxHeight)
        entry.widget.setSizeRequest(width: max(1, Int(size.width)), height: max(1, Int(size.height)))
    }
}
