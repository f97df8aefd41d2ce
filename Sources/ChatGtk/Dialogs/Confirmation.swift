import CGtk
public import GtkKit

/// A question before something that cannot be undone.
enum Confirmation {
    static func present(
        over parent: Widget, heading: String, body: String, action: String,
        _ confirmed: @escaping @MainActor () -> Void
    ) {
        let dialog = Widget(borrowing: adw_message_dialog_new(parent.cast(), heading, body))
        dialog.addResponse("cancel", translated("_Cancel"))
        dialog.addResponse("confirm", action)
        adw_message_dialog_set_response_appearance(dialog.cast(), "confirm", ADW_RESPONSE_DESTRUCTIVE)
        adw_message_dialog_set_default_response(dialog.cast(), "cancel")
        adw_message_dialog_set_close_response(dialog.cast(), "cancel")
        dialog.connect("response::confirm") { _ in confirmed() }
        gtk_window_present(dialog.cast())
    }
}

/// The stored conversations cannot be read: whether to go on without them.
public enum DamagedStoreDialog {
    /// - Parameters:
    ///   - reason: what was found, technical.
    ///   - folder: the store's folder, which is renamed as a whole and kept.
    public static func present(
        application: Application, reason: String, folder: String, setAside: @escaping @MainActor () -> Void,
        quit: @escaping @MainActor () -> Void
    ) {
        let dialog = Widget(borrowing: adw_message_dialog_new(nil, translated("Conversations Cannot Be Read"), nil))
        gtk_window_set_application(dialog.cast(), application.cast())
        let body =
            translated(
                "The file with your conversations is damaged. It can be set aside with its folder, so that Parlance starts with an empty one. Nothing is deleted: this folder is kept beside its place under another name."
            )
            + "\n\n\(folder)\n\n\(reason)"
        dialog.setProperty("body", body)
        dialog.addResponse("quit", translated("_Quit"))
        dialog.addResponse("set-aside", translated("_Set Aside and Go On"))
        adw_message_dialog_set_response_appearance(dialog.cast(), "set-aside", ADW_RESPONSE_SUGGESTED)
        adw_message_dialog_set_default_response(dialog.cast(), "set-aside")
        adw_message_dialog_set_close_response(dialog.cast(), "quit")
        dialog.connect("response::set-aside") { _ in setAside() }
        dialog.connect("response::quit") { _ in quit() }
        gtk_window_present(dialog.cast())
    }
}

extension Widget {
    /// For message dialogs.
    func addResponse(_ id: String, _ label: String) {
        adw_message_dialog_add_response(cast(), id, label)
    }
}
