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
    private let revealer = Revealer(sinking: gtk_revealer_new())
    private let scroller = ScrolledWindow(sinking: gtk_scrolled_window_new())
    private let list: Widget
    private let add = Button(sinking: gtk_button_new_from_icon_name("list-add-symbolic"))
    private var cells: [AttachmentCell] = []
    private var displayedAttachments: [Attachment] = []
    private var rendering: Rendering?

    init(model: any ComposerModel, queue: AttachmentQueue, previews: MediaPreviews) {
        self.model = model
        self.queue = queue
        self.previews = previews
        widget = revealer
        list = Widget(sinking: shim_object_new_with_role(gtk_box_get_type(), GTK_ACCESSIBLE_ROLE_LIST))
        build()
        rendering = Rendering(
            { [weak model] in model?.composer.attachments ?? [] }, { [weak self] in self?.render($0) })
    }

    // MARK: Rendering

    private func render(_ attachments: [Attachment]) {
        let focused = cells.firstIndex { gtk_widget_is_focus($0.widget.cast()) != 0 }
        let focusedCell = focused.map { cells[$0] }
        var free = cells
        cells = attachments.enumerated().map { index, attachment in
            let cell = dequeueCell(for: attachment, at: index, from: &free, among: attachments)
            cell.show(attachment, canRetry: queue.canRetry(attachment)) { [weak self] in
                await self?.image(of: attachment)
            }
            return cell
        }
        for cell in free { gtk_box_remove(list.cast(), cell.widget.cast()) }
        var previous: Widget?
        for cell in cells {
            gtk_box_reorder_child_after(list.cast(), cell.widget.cast(), previous?.cast())
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
        gtk_widget_set_can_focus(list.cast(), cells.isEmpty ? 0 : 1)
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
            if let self, let cell { self.carryOut(request, for: cell) }
        }
        gtk_box_append(list.cast(), cell.widget.cast())
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
        let scale = max(1, Int(gtk_widget_get_scale_factor(widget.cast())))
        // Twice the cell's size, because GTK_CONTENT_FIT_COVER crops: enough in both directions for common aspect
        // ratios.
        return await previews.image(
            of: media, fitting: AttachmentCell.imageWidth * scale * 2, by: AttachmentCell.imageHeight * scale * 2)
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

    private func carryOut(_ request: AttachmentCell.Request, for cell: AttachmentCell) {
        guard let index = cells.firstIndex(where: { $0 === cell }) else { return }
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

    private func move(_ cell: AttachmentCell, to index: Int) {
        guard let from = cells.firstIndex(where: { $0 === cell }), cells.indices.contains(index) else { return }
        model.handle(.moveAttachment(from: from, to: index))
    }

    private func describe(_ cell: AttachmentCell) {
        guard let attachment = cell.attachment else { return }
        AltTextPopover.present(at: cell.widget, text: attachment.altText ?? "") { [weak self, weak cell] text in
            guard let self, let index = self.cells.firstIndex(where: { $0 === cell }) else { return }
            self.queue.describe(index, as: text)
        }
    }

    // MARK: Building

    private func build() {
        gtk_revealer_set_transition_type(revealer.cast(), GTK_REVEALER_TRANSITION_TYPE_SLIDE_UP)
        gtk_box_set_spacing(list.cast(), 6)
        list.setAccessibleLabel(translated("Attachments"))
        list.addStyle("attachment-list")
        let row = Box(.horizontal, spacing: 6)
        row.append(list)
        add.tooltip = translated("Add Files")
        add.setAccessibleLabel(translated("Add More Files"))
        gtk_widget_set_valign(add.cast(), GTK_ALIGN_CENTER)
        for style in ["flat", "circular"] { add.addStyle(style) }
        add.onClick { [weak self] in self?.onAdd?() }
        row.append(add)
        gtk_scrolled_window_set_policy(scroller.cast(), GTK_POLICY_AUTOMATIC, GTK_POLICY_NEVER)
        gtk_scrolled_window_set_propagate_natural_height(scroller.cast(), 1)
        gtk_widget_set_focusable(scroller.cast(), 0)
        scroller.setChild(row)
        scroller.addStyle("attachment-tray")
        gtk_revealer_set_child(revealer.cast(), scroller.cast())
        addArrowKeys()
    }

    private func addArrowKeys() {
        let keys = Object(owning: UnsafeMutableRawPointer(gtk_event_controller_key_new()))
        keys.intercept("key-pressed") { [weak self] arguments in
            guard let self, arguments.flags(2) & GDK_ALT_MASK.rawValue == 0 else { return false }
            switch Int32(bitPattern: arguments.uint(0)) {
            case GDK_KEY_Escape: self.onLeave?()
            case GDK_KEY_Left: return self.moveFocus(by: self.isRightToLeft ? 1 : -1)
            case GDK_KEY_Right: return self.moveFocus(by: self.isRightToLeft ? -1 : 1)
            default: return false
            }
            return true
        }
        list.addController(keys)
    }

    private var isRightToLeft: Bool { gtk_widget_get_direction(list.cast()) == GTK_TEXT_DIR_RTL }

    private func moveFocus(by step: Int) -> Bool {
        guard let index = cells.firstIndex(where: { gtk_widget_is_focus($0.widget.cast()) != 0 }),
            cells.indices.contains(index + step)
        else { return false }
        return cells[index + step].widget.grabFocus()
    }

    // MARK: Reordering by drag and drop

    private func addDragging(to cell: AttachmentCell) {
        let source = Object(owning: UnsafeMutableRawPointer(gtk_drag_source_new()))
        gtk_drag_source_set_actions(source.cast(), GDK_ACTION_MOVE)
        source.connect("drag-begin") { [weak self, weak cell] _ in self?.startDrag(cell) }
        cell.widget.addController(source)
        var value = GValue()
        g_value_init(&value, shim_type_int())
        g_value_set_int(&value, 0)
        let content = gdk_content_provider_new_for_value(&value)
        gtk_drag_source_set_content(source.cast(), content)
        g_object_unref(UnsafeMutableRawPointer(content))
        let target = Object(owning: UnsafeMutableRawPointer(gtk_drop_target_new(shim_type_int(), GDK_ACTION_MOVE)))
        target.intercept("drop") { [weak self, weak cell] _ in
            guard let self, let dragged = self.dragged, let cell, dragged !== cell,
                let index = self.cells.firstIndex(where: { $0 === cell })
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
