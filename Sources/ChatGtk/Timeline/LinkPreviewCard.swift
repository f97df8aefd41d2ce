import ChatCore
import ChatViewModels
import ComposerGtk
import GtkKit
import MediaGtk

/// The preview of a message's link, as a card that opens the link. It appears once it has loaded; the list keeps
/// its scroll position.
final class LinkPreviewCard {
    /// The side length of the image, in logical pixels.
    private static let side = 64

    let widget = Button()
    var onOpen: ((BodyLink) -> Void)?
    /// Called when the card has loaded and appears.
    var onAppear: (() -> Void)?
    private let picture = Picture()
    private let site = Label()
    private let title = Label()
    private let summary = Label()
    private let media: MediaPresenter
    /// Returns `nil` if link previews are disabled or unavailable.
    private let linkPreviews: () -> LinkPreviews?
    private var link: BodyLink?
    private var rendering: Rendering?
    private var loading: Task<Void, Never>?

    init(media: MediaPresenter, linkPreviews: @escaping () -> LinkPreviews?) {
        self.media = media
        self.linkPreviews = linkPreviews
        let texts = Box(.vertical, spacing: 2)
        texts.hexpand = true
        texts.valign = .center
        for (label, lines) in [(site, 1), (title, 2), (summary, 3)] {
            label.xalign = 0
            label.wrap = true
            label.setWrapMode(.wordOrCharacter)
            label.lines = lines
            label.setEllipsize(.end)
            label.maxWidthChars = 36
            texts.append(label)
        }
        for style in ["caption", "dim-label"] { site.addStyle(style) }
        title.addStyle("link-preview-title")
        summary.addStyle("caption")
        let row = Box(.horizontal, spacing: 9)
        picture.setSizeRequest(width: Self.side, height: Self.side)
        picture.valign = .center
        row.append(picture)
        row.append(texts)
        widget.setChild(row)
        for style in ["flat", "link-preview"] { widget.addStyle(style) }
        widget.isVisible = false
        widget.onClick { [weak self] in
            guard let self, let link else { return }
            onOpen?(link)
        }
    }

    isolated deinit { loading?.cancel() }

    /// - Parameter link: The link to preview; `nil` hides the card.
    func show(_ link: BodyLink?) {
        let previews = link == nil ? nil : linkPreviews()
        guard let link, let previews else {
            self.link = nil
            rendering = nil
            loading?.cancel()
            widget.isVisible = false
            return
        }
        let address = link.target.address
        // Also for a link that is shown again: its last request may have failed.
        previews.request(address)
        guard link != self.link else { return }
        self.link = link
        loading?.cancel()
        widget.isVisible = false
        rendering = Rendering({ previews.cachedPreview(of: address) }) { [weak self] preview in
            // A preview that is no longer cached stays.
            if let preview { self?.fill(preview, link) }
        }
    }

    private func fill(_ preview: LinkPreview?, _ link: BodyLink) {
        widget.isVisible = preview != nil
        guard let preview else { return }
        onAppear?()
        site.text = preview.siteText(of: link)
        title.text = preview.title
        summary.text = preview.summary
        summary.isVisible = !preview.summary.isEmpty
        widget.tooltip = link.target.address
        widget.setAccessibleLabel(preview.accessibleText(.gettext))
        picture.paintable = nil
        picture.isVisible = preview.picture != nil
        guard let image = preview.picture else { return }
        let side = Self.side * widget.scaleFactor
        loading = Task { [weak self, weak media] in
            let decoded = await media?.previews.image(of: image, fitting: side, by: side)
            guard !Task.isCancelled, let self else { return }
            if let decoded {
                picture.paintable = decoded.paintable
            } else {
                picture.isVisible = false
            }
        }
    }
}
