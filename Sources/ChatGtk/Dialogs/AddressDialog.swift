import CGtk
import ChatCore
import GtkKit

/// Asks for the address of a room or user, or a link to one.
enum AddressDialog {
    static func present(over parent: Widget, _ open: @escaping @MainActor (String) -> Void) {
        let dialog = Widget(
            sinking: adw_message_dialog_new(
                parent.cast(), translated("Join a Room or Write to Somebody"),
                translated("A room’s address, a person’s, or a link to either.")))
        let address = Entry(sinking: gtk_entry_new())
        address.setProperty("placeholder-text", translated("#room:server or @name:server"))
        address.setProperty("activates-default", true)
        address.setAccessibleLabel(translated("Address"))
        adw_message_dialog_set_extra_child(dialog.cast(), address.cast())
        dialog.addResponse("cancel", translated("_Cancel"))
        dialog.addResponse("open", translated("_Open"))
        adw_message_dialog_set_response_appearance(dialog.cast(), "open", ADW_RESPONSE_SUGGESTED)
        adw_message_dialog_set_response_enabled(dialog.cast(), "open", 0)
        adw_message_dialog_set_default_response(dialog.cast(), "open")
        adw_message_dialog_set_close_response(dialog.cast(), "cancel")
        // Capture weakly: the dialog owns its signal handlers.
        address.onChange { [weak dialog, weak address] in
            guard let dialog, let address else { return }
            adw_message_dialog_set_response_enabled(dialog.cast(), "open", ChatAddress(address.text) != nil ? 1 : 0)
        }
        dialog.connect("response::open") { [weak address] _ in
            if let text = address?.text, ChatAddress(text) != nil { open(text) }
        }
        let retained = RetainedWidgets([dialog, address])
        dialog.connect("response") { _ in retained.end() }
        gtk_window_present(dialog.cast())
        address.grabFocus()
    }
}
