import CGtk
public import GtkKit

/// Asks for confirmation of a destructive action.
enum Confirmation {
    static func present(
        over parent: Widget, heading: String, body: String, action: String,
        cancelled: @escaping @MainActor () -> Void = {}, _ confirmed: @escaping @MainActor () -> Void
    ) {
        let dialog = Widget(sinking: adw_message_dialog_new(parent.cast(), heading, body))
        dialog.addResponse("cancel", translated("_Cancel"))
        dialog.addResponse("confirm", action)
        adw_message_dialog_set_response_appearance(dialog.cast(), "confirm", ADW_RESPONSE_DESTRUCTIVE)
        adw_message_dialog_set_default_response(dialog.cast(), "cancel")
        adw_message_dialog_set_close_response(dialog.cast(), "cancel")
        dialog.connect("response::confirm") { _ in confirmed() }
        dialog.connect("response::cancel") { _ in cancelled() }
        gtk_window_present(dialog.cast())
    }
}

extension Widget {
    /// Adds a response to an AdwMessageDialog.
    func addResponse(_ id: String, _ label: String) {
        adw_message_dialog_add_response(cast(), id, label)
        nameResponses()
    }

    /// Fixes the accessible names of a message dialog's buttons: GTK 4.8 includes the mnemonic underscore and reads the
    /// label twice.
    func nameResponses() {
        for child in children {
            if shim_is_a(child.pointer, gtk_button_get_type()) != 0, gtk_button_get_use_underline(child.cast()) != 0 {
                // Without the property, the name comes from the child label.
                gtk_accessible_reset_property(child.cast(), GTK_ACCESSIBLE_PROPERTY_LABEL)
            } else {
                child.nameResponses()
            }
        }
    }
}
