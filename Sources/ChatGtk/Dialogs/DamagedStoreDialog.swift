import CGtk
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
        let dialog = Widget(sinking: adw_message_dialog_new(nil, translated("Conversations Cannot Be Read"), nil))
        gtk_window_set_application(dialog.cast(), application.cast())
        let body =
            translated(
                "The file with your conversations is damaged. Parlance can keep everything in it that is still readable, and go on with that. Nothing is deleted: the damaged folder stays beside its place under another name."
            )
            + "\n\n\(folder)\n\n\(reason)"
        dialog.setProperty("body", body)
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
        let counts = [
            (translated("{count} message", "{count} messages", count: messages), messages),
            (translated("{count} conversation", "{count} conversations", count: rooms), rooms),
            (translated("{count} unsent text", "{count} unsent texts", count: pending), pending),
        ].map { text, count in text.replacing("{count}", with: String(count)) }.joined(separator: "\n")
        present(
            over: parent, heading: translated("Conversations Were Repaired"),
            body: (rooms + messages + pending == 0
                ? translated("Nothing in the damaged file could be read any more.")
                : translated("This could be kept:") + "\n\n" + counts) + "\n\n"
                + translated("The damaged folder is now here:") + "\n" + setAside)
    }

    /// Reports damage found while the store is in use.
    public static func presentFinding(over parent: Widget, reason: String) {
        present(
            over: parent, heading: translated("Conversations Are Damaged"),
            body: translated(
                "After Parlance had not ended as it should, the file with your conversations was checked, and damage was found. Some messages may not be shown. At its next start Parlance will offer to repair it; unsent texts are in another file and safe."
            ) + "\n\n\(reason)")
    }

    private static func present(over parent: Widget, heading: String, body: String) {
        let dialog = Widget(sinking: adw_message_dialog_new(parent.cast(), heading, nil))
        dialog.setProperty("body", body)
        dialog.addResponse("close", translated("_Close"))
        adw_message_dialog_set_default_response(dialog.cast(), "close")
        adw_message_dialog_set_close_response(dialog.cast(), "close")
        gtk_window_present(dialog.cast())
    }
}
