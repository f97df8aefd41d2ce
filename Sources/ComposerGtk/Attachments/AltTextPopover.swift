import CGtk
import GtkKit

/// A popover that edits the alternative text of an image or file.
enum AltTextPopover {
    /// - Parameter done: Called with the text when the popover closes by Return or a click outside, not by Escape.
    static func present(at parent: Widget, text: String, _ done: @escaping @MainActor (String) -> Void) {
        let popover = Popover()
        popover.attachPopover(to: parent)
        popover.placeAbove()
        let entry = Entry()
        entry.setPlaceholder(translated("Describe this for people who cannot see it"))
        entry.widthChars = 30
        entry.setAccessibleLabel(translated("Description"))
        entry.text = text
        let box = Box(.vertical, spacing: 6)
        let heading = Label(translated("Description"))
        heading.addStyle("heading")
        heading.xalign = 0
        box.append(heading)
        box.append(entry)
        popover.setChild(box)
        connect(popover, entry, done)
        popover.popUp()
        entry.grabFocus()
    }

    private static func connect(_ popover: Popover, _ entry: Entry, _ done: @escaping @MainActor (String) -> Void) {
        var isDropped = false
        let keys = KeyController(.capture)
        keys.onPress { key in
            isDropped = key.key == GDK_KEY_Escape
            return false
        }
        popover.addController(keys)
        presented = (popover, entry)
        entry.onActivate { presented?.popover.popDown() }
        popover.onClose {
            guard let closed = presented else { return }
            presented = nil
            if !isDropped { done(closed.entry.text) }
            // Unparenting within the `closed` signal would destroy its emitter.
            keeper = Timeout(whenIdle: { closed.popover.unparent() })
        }
    }

    private static var presented: (popover: Popover, entry: Entry)?
    private static var keeper: Timeout?
}
