import CGtk
import Foundation
import GtkKit

/// Uses dialogs as the user does, in the environment's language, and draws them.
struct DialogPictures {
    let gallery: Gallery
    let pictures: PictureFolder

    static let narrow = 360

    // MARK: Drawing

    /// Waits for a dialog and until it is drawn.
    /// - Parameters:
    ///   - width: the dialog's width if it is the narrow one; otherwise the dialog has its own width.
    ///   - parent: the dialog that this one is over, if any.
    func open(_ width: Int? = nil, over parent: Dialog? = nil) async -> Dialog? {
        await gallery.wait(for: "a dialog") { Self.dialog(over: parent) != nil }
        if width == Self.narrow, let dialog = Self.dialog(over: parent) { Self.makeNarrow(dialog) }
        await gallery.waitUntilDrawn()
        return Self.dialog(over: parent)
    }

    private static func dialog(over parent: Dialog?) -> Dialog? {
        Dialog.all.first(where: { !$0.isSame(as: parent) })
    }

    private static func makeNarrow(_ dialog: Dialog) {
        guard let window = dialog.window, window.defaultSize.width != narrow else { return }
        window.setDefaultSize(width: narrow, height: 640)
    }

    /// Waits for a dialog as ``open(_:over:)`` does, and draws it.
    func draw(_ name: String, _ width: Int? = nil, over parent: Dialog? = nil, closes: Bool = true) async -> Bool {
        guard let dialog = await open(width, over: parent), pictures.saveWindow(dialog.window ?? dialog, name) else {
            return false
        }
        if closes {
            dialog.close()
            await gallery.waitUntilDrawn()
        }
        return true
    }

    /// Draws the open dialog after a change in it.
    func drawChange(_ name: String) async -> Bool {
        await gallery.waitUntilDrawn()
        guard let dialog = Dialog.all.first else { return false }
        return pictures.saveWindow(dialog.window ?? dialog, name)
    }

    // MARK: Input

    /// Types into the text field that the open dialog shows.
    func enter(_ text: String) async -> Bool {
        guard let field = await find(adw_entry_row_get_type(), "a text field", in: nil, { _ in true }) else {
            return false
        }
        field.withPointer { gtk_editable_set_text($0, text) }
        await gallery.waitUntilDrawn()
        return true
    }

    /// Waits for the visible button with a label, and activates it.
    /// - Parameters:
    ///   - label: as in the source, with its mnemonic.
    ///   - parent: what contains the button; `nil` for the open dialog.
    func press(_ label: String, in parent: Widget? = nil) async -> Bool {
        let label = translated(label).filter { $0 != "_" }
        return await activate(gtk_button_get_type(), label, in: parent) { Self.label(of: $0) == label }
    }

    /// Waits for a visible button with an icon, and activates the first one.
    func press(icon: String, in parent: Widget) async -> Bool {
        await activate(gtk_button_get_type(), icon, in: parent) { button in
            button.withPointer { gtk_button_get_icon_name($0).map { String(cString: $0) } } == icon
        }
    }

    /// Waits for the visible row of the open dialog with a title, and activates it.
    /// - Parameter title: as in the source.
    func activateRow(_ title: String) async -> Bool {
        let title = translated(title)
        return await activate(adw_action_row_get_type(), title, in: nil) { row in
            row.withPointer { adw_preferences_row_get_title($0).map { String(cString: $0) } } == title
        }
    }

    private func activate(
        _ type: GType, _ name: String, in parent: Widget?, _ condition: (Widget) -> Bool
    ) async -> Bool {
        guard let widget = await find(type, "“\(name)”", in: parent, condition),
            widget.withPointer({ gtk_widget_activate($0) }) != 0
        else { return false }
        // GTK shows a button that is activated as pressed, and clicks it a quarter of a second later.
        await gallery.wait(for: "a click on “\(name)”") { !widget.hasStyle("keyboard-activating") }
        return true
    }

    /// Waits for a visible widget.
    /// - Parameters:
    ///   - name: what an error message calls it.
    ///   - parent: what contains it; `nil` for the open dialog.
    private func find(
        _ type: GType, _ name: String, in parent: Widget?, _ condition: (Widget) -> Bool
    ) async -> Widget? {
        var found: Widget?
        await gallery.wait(for: name) {
            guard let parent = parent ?? Dialog.all.first else { return false }
            found = Self.first(below: parent) { $0.isMapped && $0.isInstance(of: type) && condition($0) }
            return found != nil
        }
        return found
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
