import CGtk
import ChatCore
import Composer
import ComposerSessions
import GtkKit
import MediaGtk

/// The message's attachments, in a row above the text (MIB-36 to MIB-39).
final class AttachmentTray {
    let widget: Widget
    /// Called when the user wants to add files.
    var onAdd: (() -> Void)?
    /// Called when the focus should return to the text.
    var onLeave: (() -> Void)?
    /// Called when the attachments have changed: the position, and the number of items removed and added there
    /// (MIB-39).
    var onChange: ((_ position: Int, _ removed: Int, _ added: Int) -> Void)?
    /// Whether the tray stays visible while empty (MIB-37).
    var isPersistent = false {
        didSet { if isPersistent != oldValue { showTray() } }
    }
    /// Whether the tray ends with a button for adding files (MIB-37).
    var offersMore = true {
        didSet { add.isVisible = offersMore }
    }

    private let model: any ComposerModel
    private let queue: AttachmentQueue
    private let previews: MediaPreviews
    private let revealer = Revealer(.slideUp)
    private let scroller = ScrolledWindow(horizontal: .automatic, vertical: .never)
    private let list: Box
    private let add = Button(icon: "parlance-add-symbolic")
    private(set) var cells: [AttachmentCell] = []
    private var displayedAttachments: [Attachment] = []
    private var rendering: Rendering?

    init(model: any ComposerModel, queue: AttachmentQueue, previews: MediaPreviews) {
        self.model = model
        self.queue = queue
        self.previews = previews
        widget = revealer
        list = Box(.horizontal, spacing: 6, role: GTK_ACCESSIBLE_ROLE_LIST)
        build()
        rendering = Rendering(
            { [weak model] in model?.composer.attachments ?? [] }, { [weak self] in self?.render($0) })
    }

    // MARK: Rendering

    private func render(_ attachments: [Attachment]) {
        let focused = cells.firstIndex { $0.widget.isFocus }
        let focusedCell = focused.map { cells[$0] }
        var free = cells
        cells = attachments.enumerated().map { index, attachment in
            let cell = dequeueCell(for: attachment, at: index, from: &free, among: attachments)
            cell.show(attachment, canRetry: queue.canRetry(attachment)) { [weak self] in
                await self?.image(of: attachment)
            }
            return cell
        }
        for cell in free { list.remove(cell.widget) }
        var previous: Widget?
        for cell in cells {
            list.move(cell.widget, after: previous)
            previous = cell.widget
        }
        showTray()
        if let focused, !cells.contains(where: { $0 === focusedCell }) { restoreFocus(near: focused) }
        reportChanges(from: displayedAttachments, to: attachments)
        displayedAttachments = attachments
    }

    private func showTray() {
        revealer.isRevealed = isPersistent || !cells.isEmpty
        // While collapsed, the list must not be focusable.
        list.canFocus = !cells.isEmpty
    }

    /// Reports the range between the common prefix and the common suffix. A file whose upload has completed counts as
    /// unchanged, although its source differs.
    private func reportChanges(from old: [Attachment], to new: [Attachment]) {
        guard let onChange else { return }
        let isSame = { (one: Attachment, other: Attachment) in
            one.source == other.source || one.upload != .ready && other.upload == .ready && one.name == other.name
        }
        let commonCount = min(old.count, new.count)
        let head = (0..<commonCount).first { !isSame(old[$0], new[$0]) } ?? commonCount
        let tail =
            (0..<(commonCount - head)).first { !isSame(old[old.count - 1 - $0], new[new.count - 1 - $0]) }
            ?? commonCount - head
        let (removed, added) = (old.count - head - tail, new.count - head - tail)
        if removed + added > 0 { onChange(head, removed, added) }
    }

    /// Reuses the cell of the same attachment, matched by source, or by name if the upload has just changed the source.
    /// Creates a new cell otherwise.
    private func dequeueCell(
        for attachment: Attachment, at index: Int, from free: inout [AttachmentCell], among all: [Attachment]
    ) -> AttachmentCell {
        let same = free.firstIndex { $0.attachment?.source == attachment.source }
        let renamed = free.firstIndex { cell in
            cell.attachment?.name == attachment.name && !all.contains { $0.source == cell.attachment?.source }
        }
        if let freeIndex = same ?? renamed { return free.remove(at: freeIndex) }
        let cell = AttachmentCell()
        cell.onRequest = { [weak self, weak cell] request in
            if let self, let cell { self.perform(request, for: cell) }
        }
        list.append(cell.widget)
        addDragging(to: cell)
        return cell
    }

    /// Decodes an attachment's image to fit within a size in pixels, for display in the text (MIB-19).
    func image(of attachment: Attachment, fitting width: Int, by height: Int) async -> DecodedImage? {
        guard let media = MediaReference(attachment) else { return nil }
        return await previews.image(of: media, fitting: width, by: height)
    }

    private func image(of attachment: Attachment) async -> DecodedImage? {
        guard let media = MediaReference(attachment) else { return nil }
        // Twice the cell's size, because GTK_CONTENT_FIT_COVER crops: enough in both directions for common aspect
        // ratios.
        let scale = widget.scaleFactor * 2
        let (width, height) = (AttachmentCell.imageWidth * scale, AttachmentCell.imageHeight * scale)
        return attachment.isVideo
            ? await previews.poster(of: media, fitting: width, by: height)
            : await previews.image(of: media, fitting: width, by: height)
    }

    /// Focuses the next cell after a removal, or the text once the tray is empty.
    private func restoreFocus(near index: Int) {
        guard !cells.isEmpty else {
            onLeave?()
            return
        }
        cells[min(index, cells.count - 1)].widget.grabFocus()
    }

    // MARK: Requests

    private func perform(_ request: AttachmentCell.Request, for cell: AttachmentCell) {
        guard let index = self.index(of: cell) else { return }
        switch request {
        case .remove: queue.remove(index)
        case .retry: queue.retry(index)
        case .describe: describe(cell)
        case .placeInText:
            model.handle(.placeInText(index))
            onLeave?()
        case .move(let step): move(cell, to: index + step)
        }
    }

    /// The index of a cell's file among the attachments, or `nil` if the file was removed. The cells show a little
    /// later what a key has changed: the next one must not change another file.
    private func index(of cell: AttachmentCell) -> Int? {
        guard let place = cells.firstIndex(where: { $0 === cell }), let shown = cell.attachment else { return nil }
        let attachments = model.composer.attachments
        let isShown = { (other: Attachment) in other.source == shown.source && other.name == shown.name }
        if attachments.indices.contains(place), isShown(attachments[place]) { return place }
        if let index = attachments.firstIndex(where: isShown) { return index }
        // Its copy was stored meanwhile, under another source.
        return attachments.firstIndex { attachment in
            attachment.name == shown.name && !cells.contains { $0.attachment?.source == attachment.source }
        }
    }

    private func move(_ cell: AttachmentCell, to index: Int) {
        guard let from = self.index(of: cell), model.composer.attachments.indices.contains(index) else { return }
        model.handle(.moveAttachment(from: from, to: index))
    }

    private func describe(_ cell: AttachmentCell) {
        guard let attachment = cell.attachment else { return }
        AltTextPopover.present(at: cell.widget, text: attachment.altText ?? "") { [weak self, weak cell] text in
            guard let self, let cell, let index = self.index(of: cell) else { return }
            self.queue.describe(index, as: text)
        }
    }

    // MARK: Building

    private func build() {
        list.setAccessibleLabel(translated("Attachments"))
        list.addStyle("attachment-list")
        let row = Box(.horizontal, spacing: 6)
        row.append(list)
        add.tooltip = translated("Attach Files")
        add.setAccessibleLabel(translated("Attach More Files"))
        add.valign = .center
        for style in ["flat", "circular"] { add.addStyle(style) }
        add.onClick { [weak self] in self?.onAdd?() }
        row.append(add)
        scroller.propagatesNaturalHeight = true
        scroller.isFocusable = false
        scroller.setChild(row)
        scroller.addStyle("attachment-tray")
        revealer.setChild(scroller)
        addArrowKeys()
    }

    private func addArrowKeys() {
        let keys = KeyController()
        keys.onPress { [weak self] key in
            guard let self, !key.modifiers.contains(.alt) else { return false }
            switch key.key {
            case GDK_KEY_Escape: self.onLeave?()
            case GDK_KEY_Left: return self.moveFocus(by: self.isRightToLeft ? 1 : -1)
            case GDK_KEY_Right: return self.moveFocus(by: self.isRightToLeft ? -1 : 1)
            default: return false
            }
            return true
        }
        list.addController(keys)
    }

    private var isRightToLeft: Bool { list.isRightToLeft }

    private func moveFocus(by step: Int) -> Bool {
        guard let index = cells.firstIndex(where: { $0.widget.isFocus }),
            cells.indices.contains(index + step)
        else { return false }
        return cells[index + step].widget.grabFocus()
    }

    // MARK: Reordering by drag and drop

    private func addDragging(to cell: AttachmentCell) {
        let source = DragSource(.move)
        source.onDragBegin { [weak self, weak cell] _ in self?.startDrag(cell) }
        cell.widget.addController(source)
        // The number is unused: ``dragged`` says which cell it is.
        source.setContent(ContentProvider(number: 0))
        let target = DropTarget(numbersFor: .move)
        target.onDrop { [weak self, weak cell] _ in
            guard let self, let dragged = self.dragged, let cell, dragged !== cell,
                let index = self.index(of: cell)
            else { return false }
            self.move(dragged, to: index)
            return true
        }
        cell.widget.addController(target)
    }

    private weak var dragged: AttachmentCell?

    private func startDrag(_ cell: AttachmentCell?) {
        dragged = cell
    }
}
