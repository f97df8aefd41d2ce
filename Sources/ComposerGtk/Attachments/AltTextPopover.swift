import CGtk
import GtkKit

/// A popover that edits the alternative text of an image or file.
enum AltTextPopover {
    /// - Parameter done: Called with the text when the popover closes by Return or a click outside, not by Escape.
    static func present(at parent: Widget, text: String, _ done: @escaping @MainActor (String) -> Void) {
        let popover = Widget(sinking: gtk_popover_new())
        popover.attachPopover(to: parent)
        gtk_popover_set_position(popover.cast(), GTK_POS_TOP)
        let entry = Entry(sinking: gtk_entry_new())
        gtk_entry_set_placeholder_text(entry.cast(), translated("Describe it for people who can’t see it"))
        gtk_editable_set_width_chars(entry.cast(), 30)
        entry.setAccessibleLabel(translated("Description"))
        entry.text = text
        let box = Box(.vertical, spacing: 6)
        let heading = Label(translated("Description"))
        heading.addStyle("heading")
        gtk_label_set_xalign(heading.cast(), 0)
        box.append(heading)
        box.append(entry)
        gtk_popover_set_child(popover.cast(), box.cast())
        connect(popover, entry, done)
        gtk_popover_popup(popover.cast())
        entry.grabFocus()
    }

    private static func connect(_ popover: Widget, _ entry: Entry, _ done: @escaping @MainActor (String) -> Void) {
        var isDropped = false
        let keys = Object(owning: UnsafeMutableRawPointer(gtk_event_controller_key_new()))
        gtk_event_controller_set_propagation_phase(keys.cast(), GTK_PHASE_CAPTURE)
        keys.intercept("key-pressed") { arguments in
            isDropped = Int32(bitPattern: arguments.uint(0)) == GDK_KEY_Escape
            return false
        }
        popover.addController(keys)
        let popoverPointer = popover.pointer
        entry.connect("activate") { _ in
            gtk_popover_popdown(popoverPointer.assumingMemoryBound(to: GtkPopover.self))
        }
        let field = entry.pointer
        popover.connect("closed") { _ in
            if !isDropped { done(Entry(borrowing: field).text) }
            // Unparenting within the `closed` signal would destroy its emitter.
            keeper = Timeout(whenIdle: { gtk_widget_unparent(popoverPointer.assumingMemoryBound(to: GtkWidget.self)) })
        }
    }

    private static var keeper: Timeout?
}
