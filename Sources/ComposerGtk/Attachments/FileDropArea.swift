import CGtk
import GtkKit

/// A drop target for files that highlights itself during a drag.
final class FileDropArea {
    /// Retains the controller instead of the area: a bar that retained its own widget would never be freed.
    private let target = Object(owning: UnsafeMutableRawPointer(gtk_drop_target_async_new(nil, GDK_ACTION_COPY)))
    private let hint = Revealer(sinking: gtk_revealer_new())
    private let accepts: ([String]) -> Bool

    /// - Parameters:
    ///   - overlay: The GtkOverlay for the hint, or `nil` for areas too small for text.
    ///   - accepts: Whether a drag with these MIME types is accepted.
    ///   - onDrop: Handles a drop. Must call `finishDrop(isAccepted:)`.
    init(
        _ area: Widget, overlay: Widget?, accepts: @escaping ([String]) -> Bool,
        onDrop: @escaping @MainActor (ContentOffer) -> Void
    ) {
        self.accepts = accepts
        if let overlay { buildHint(on: overlay) }
        // In the capture phase, before the text view, which would insert a file's path as text.
        gtk_event_controller_set_propagation_phase(target.cast(), GTK_PHASE_CAPTURE)
        target.intercept("accept") { [weak self] arguments in self?.accepts(arguments.object(0)) ?? false }
        target.connectReturningFlags("drag-enter") { [weak self] _ in
            self?.show(true)
            return GDK_ACTION_COPY.rawValue
        }
        target.connect("drag-leave") { [weak self] _ in self?.show(false) }
        target.intercept("drop") { [weak self] arguments in
            self?.show(false)
            guard let drop = arguments.object(0) else { return false }
            onDrop(ContentOffer(borrowing: drop))
            return true
        }
        area.addController(target)
    }

    /// Removes the drop target.
    func end() {
        show(false)
        if let area = gtk_event_controller_get_widget(target.cast()) {
            gtk_widget_remove_controller(area, target.cast())
        }
        if gtk_widget_get_parent(hint.cast()) != nil { gtk_widget_unparent(hint.cast()) }
    }

    private func accepts(_ drop: UnsafeMutableRawPointer?) -> Bool {
        guard let drop else { return false }
        return accepts(ContentOffer(borrowing: drop).types)
    }

    private func show(_ isOver: Bool) {
        if let area = gtk_event_controller_get_widget(target.cast()) {
            Widget(borrowing: UnsafeMutableRawPointer(area)).setStyle("drop-target", isOver)
        }
        hint.isRevealed = isOver
    }

    private func buildHint(on overlay: Widget) {
        let box = Box(.vertical, spacing: 12)
        let icon = Widget(sinking: gtk_image_new_from_icon_name("mail-attachment-symbolic"))
        gtk_image_set_pixel_size(icon.cast(), 48)
        box.append(icon)
        let label = Label(translated("Drop Files Here to Add Them"))
        label.addStyle("title-2")
        box.append(label)
        box.addStyle("drop-hint")
        gtk_widget_set_halign(box.cast(), GTK_ALIGN_CENTER)
        gtk_widget_set_valign(box.cast(), GTK_ALIGN_CENTER)
        gtk_revealer_set_transition_type(hint.cast(), GTK_REVEALER_TRANSITION_TYPE_CROSSFADE)
        gtk_revealer_set_child(hint.cast(), box.cast())
        gtk_widget_set_can_target(hint.cast(), 0)
        gtk_overlay_add_overlay(overlay.cast(), hint.cast())
    }
}
