import CGtk
import ChatViewModels
import ComposerGtk
public import GtkKit

/// Dialogs about a damaged store.
public enum DamagedStoreDialog {
    /// Asks whether to repair a store that cannot be opened.
    ///
    /// - Parameters:
    ///   - reason: The technical finding.
    ///   - folder: The store's folder, which a repair renames and preserves.
    public static func present(
        application: Application, reason: String, folder: String, repair: @escaping @MainActor () -> Void,
        quit: @escaping @MainActor () -> Void
    ) {
        let damage = StoreDamage.unreadable(reason: reason, folder: folder)
        let dialog = Widget(sinking: adw_message_dialog_new(nil, damage.heading(.gettext), nil))
        gtk_window_set_application(dialog.cast(), application.cast())
        dialog.setProperty("body", damage.body(.gettext))
        dialog.addResponse("quit", translated("_Quit"))
        dialog.addResponse("repair", translated("_Repair and Go On"))
        adw_message_dialog_set_response_appearance(dialog.cast(), "repair", ADW_RESPONSE_SUGGESTED)
        adw_message_dialog_set_default_response(dialog.cast(), "repair")
        adw_message_dialog_set_close_response(dialog.cast(), "quit")
        dialog.connect("response::repair") { _ in repair() }
        dialog.connect("response::quit") { _ in quit() }
        gtk_window_present(dialog.cast())
    }

    /// Reports what the repair recovered, and where the damaged folder is.
    public static func presentResult(
        over parent: Widget, rooms: Int, messages: Int, pending: Int, setAside: String
    ) {
        present(
            .repaired(rooms: rooms, messages: messages, unsentTexts: pending, setAside: setAside), over: parent)
    }

    /// Reports damage found while the store is in use.
    public static func presentFinding(over parent: Widget, reason: String) {
        present(.found(reason: reason), over: parent)
    }

    private static func present(_ damage: StoreDamage, over parent: Widget) {
        let dialog = Widget(sinking: adw_message_dialog_new(parent.cast(), damage.heading(.gettext), nil))
        dialog.setProperty("body", damage.body(.gettext))
        dialog.addResponse("close", translated("_Close"))
        adw_message_dialog_set_default_response(dialog.cast(), "close")
        adw_message_dialog_set_close_response(dialog.cast(), "close")
        gtk_window_present(dialog.cast())
    }
}
