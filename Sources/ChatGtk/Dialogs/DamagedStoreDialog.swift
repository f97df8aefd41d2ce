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
        let body =
            translated(
                "The file with your conversations is damaged. Parlance can keep everything in it that is still readable, and go on with that. Nothing is deleted: the damaged folder stays beside its place under another name."
            )
            + "\n\n\(folder)\n\n\(reason)"
        let dialog = MessageDialog(over: nil, heading: translated("Conversations Cannot Be Read"), body: body)
        dialog.setApplication(application)
        dialog.addResponse("quit", translated("_Quit"))
        dialog.addResponse("repair", translated("_Repair and Go On"), .suggested)
        dialog.setResponses(default: "repair", close: "quit")
        dialog.onResponse("repair") { repair() }
        dialog.onResponse("quit") { quit() }
        dialog.present()
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
        let dialog = MessageDialog(over: parent, heading: heading, body: body)
        dialog.addResponse("close", translated("_Close"))
        dialog.setResponses(default: "close", close: "close")
        dialog.present()
    }
}
