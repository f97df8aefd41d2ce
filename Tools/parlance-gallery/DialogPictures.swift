import CGtk
import Foundation
import GtkKit

/// Uses dialogs as the user does, in the environment's language, and draws them.
struct DialogPictures {
    let gallery: Gallery
    let pictures: PictureFolder

    static let narrow = 360

    // MARK: Drawing

    /// Waits for a dialog.
    /// - Parameters:
    ///   - width: the dialog's width if it is the narrow one; otherwise the dialog has its own width.
    ///   - parent: the dialog that this one is over, if any.
    func open(_ width: Int? = nil, over parent: Dialog? = nil) async -> Dialog? {
        // A dialog that is there already needs no second wait.
        if width == Self.narrow, let dialog = Self.dialog(over: parent) { Self.makeNarrow(dialog) }
        await gallery.waitUntilIdle()
        guard let dialog = Self.dialog(over: parent) else { return nil }
        if width == Self.narrow, Self.makeNarrow(dialog) { await gallery.waitUntilIdle() }
        return dialog
    }

    private static func dialog(over parent: Dialog?) -> Dialog? {
        Dialog.all.first(where: { !$0.isSame(as: parent) })
    }

    /// - Returns: whether the dialog had another width.
    @discardableResult
    private static func makeNarrow(_ dialog: Dialog) -> Bool {
        guard let window = dialog.window, window.defaultSize.width != narrow else { return false }
        window.setDefaultSize(width: narrow, height: 640)
        return true
    }

    /// Waits for a dialog as ``open(_:over:)`` does, and draws it.
    func draw(_ name: String, _ width: Int? = nil, over parent: Dialog? = nil, closes: Bool = true) async -> Bool {
        guard let dialog = await open(width, over: parent), pictures.saveWindow(dialog.window ?? dialog, name) else {
            return false
        }
        if closes {
            dialog.close()
            await gallery.waitUntilIdle()
        }
        return true
    }

    /// Draws the open dialog after a change in it, which is complete sooner than the opening of a dialog.
    func drawChange(_ name: String) async -> Bool {
        try? await Task.sleep(for: .milliseconds(400))
        guard let dialog = Dialog.all.first else { return false }
        return pictures.saveWindow(dialog.window ?? dialog, name)
    }

    // MARK: Input

    /// Types into the text field that the open dialog shows.
    func enter(_ text: String) async -> Bool {
        guard let dialog = Dialog.all.first,
            let field = Self.first(below: dialog, { $0.isMapped && $0.isInstance(of: adw_entry_row_get_type()) })
        else { return false }
        field.withPointer { gtk_editable_set_text($0, text) }
        await gallery.waitUntilIdle()
        return true
    }

    /// Activates the visible button with a label.
    /// - Parameters:
    ///   - label: as in the source, with its mnemonic.
    ///   - parent: what contains the button; `nil` for the open dialog.
    func press(_ label: String, in parent: Widget? = nil) -> Bool {
        let label = translated(label).filter { $0 != "_" }
        return activate(gtk_button_get_type(), in: parent) { Self.label(of: $0) == label }
    }

    /// Activates the first visible button with an icon.
    func press(icon: String, in parent: Widget) -> Bool {
        activate(gtk_button_get_type(), in: parent) { button in
            button.withPointer { gtk_button_get_icon_name($0).map { String(cString: $0) } } == icon
        }
    }

    /// Activates the visible row of the open dialog with a title.
    /// - Parameter title: as in the source.
    func activateRow(_ title: String) -> Bool {
        let title = translated(title)
        return activate(adw_action_row_get_type(), in: nil) { row in
            row.withPointer { adw_preferences_row_get_title($0).map { String(cString: $0) } } == title
        }
    }

    private func activate(_ type: GType, in parent: Widget?, _ condition: (Widget) -> Bool) -> Bool {
        guard let parent = parent ?? Dialog.all.first,
            let widget = Self.first(below: parent, { $0.isMapped && $0.isInstance(of: type) && condition($0) })
        else { return false }
        return widget.withPointer { gtk_widget_activate($0) } != 0
    }

    private static func label(of button: Widget) -> String? {
        first(below: button) { $0.isInstance(of: gtk_label_get_type()) }.map { label in
            label.withPointer { String(cString: gtk_label_get_text($0)) }
        }
    }

    static func first(below widget: Widget, _ condition: (Widget) -> Bool) -> Widget? {
        for child in widget.children {
            if condition(child) { return child }
            if let found = first(below: child, condition) { return found }
        }
        return nil
    }
}
