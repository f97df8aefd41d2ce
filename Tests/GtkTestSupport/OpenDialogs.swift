import CGtk
public import GtkKit

/// The open dialogs, whether in windows of their own or within their parent window.
@MainActor
public enum OpenDialogs {
    public static var all: [Dialog] { Dialog.all }

    public static func first(titled title: String) -> Dialog? { all.first { $0.title == title } }

    public static var alert: MessageDialog? {
        all.lazy.compactMap { $0.wrapped(as: MessageDialog.self, shim_alert_type()) }.first
    }

    /// The dialog with the keyboard focus.
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
