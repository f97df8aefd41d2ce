import CGtk
public import GtkKit

/// The dialogs that are open, be they windows of their own or inside the window that they belong to.
@MainActor
public enum OpenDialogs {
    public static var all: [Dialog] { Dialog.all }

    public static func first(titled title: String) -> Dialog? { all.first { $0.title == title } }

    public static var alert: MessageDialog? {
        all.lazy.compactMap { $0.wrapped(as: MessageDialog.self, shim_alert_type()) }.first
    }

    /// The dialog that has the keyboard focus.
    public static var active: Dialog? {
        all.first { dialog in
            guard let window = dialog.window, window.isActive else { return false }
            return !Dialog.isInWindow || window.focus.map { isInside($0, dialog) } == true
        }
    }

    public static func closeAll() { for dialog in all { dialog.close() } }

    private static func isInside(_ widget: Widget, _ dialog: Dialog) -> Bool {
        widget.isSame(as: dialog) || widget.parent.map { isInside($0, dialog) } == true
    }
}
