import CGtk
public import GtkKit

/// A question before something that cannot be undone.
enum Confirmation {
    static func present(
        over parent: Widget, heading: String, body: String, action: String,
        _ confirmed: @escaping @MainActor () -> Void
    ) {
        let dialog = Widget(sinking: adw_message_dialog_new(parent.cast(), heading, body))
        dialog.addResponse("cancel", translated("_Cancel"))
        dialog.addResponse("confirm", action)
        adw_message_dialog_set_response_appearance(dialog.cast(), "confirm", ADW_RESPONSE_DESTRUCTIVE)
        adw_message_dialog_set_default_response(dialog.cast(), "cancel")
        adw_message_dialog_set_close_response(dialog.cast(), "cancel")
        dialog.connect("response::confirm") { _ in confirmed() }
        gtk_window_present(dialog.cast())
    }
}

extension Widget {
    /// For message dialogs.
    func addResponse(_ id: String, _ label: String) {
        adw_message_dialog_add_response(cast(), id, label)
        nameResponses()
    }

    /// Names the buttons of a message dialog: GTK 4.8 reads the underscore of a mnemonic out, and the words twice.
    func nameResponses() {
        for child in children {
            if shim_is_a(child.pointer, gtk_button_get_type()) != 0, gtk_button_get_use_underline(child.cast()) != 0 {
                // What is left is the label within.
                gtk_accessible_reset_property(child.cast(), GTK_ACCESSIBLE_PROPERTY_LABEL)
            } else {
                child.nameResponses()
            }
        }
    }
}
