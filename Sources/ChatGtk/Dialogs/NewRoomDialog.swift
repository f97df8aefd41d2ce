import CGtk
import ChatViewModels
import GtkKit

/// Asks for the name of a new local room.
enum NewRoomDialog {
    static func present(over parent: Widget, _ create: @escaping @MainActor (String) -> Void) {
        let builder = Builder(resource: Resource.ui("new-room"))
        let dialog: Widget = builder["dialog"]
        let name: Entry = builder["name"]
        gtk_window_set_transient_for(dialog.cast(), parent.cast())
        dialog.nameResponses()
        // Capture weakly: the dialog owns its signal handlers.
        name.onChange { [weak dialog, weak name] in
            guard let dialog, let name else { return }
            adw_message_dialog_set_response_enabled(dialog.cast(), "create", RoomName.valid(name.text) != nil ? 1 : 0)
        }
        dialog.connect("response::create") { [weak name] _ in
            if let name = name.flatMap({ RoomName.valid($0.text) }) { create(name) }
        }
        // Retains the wrappers while the dialog is open.
        let retained = RetainedWidgets([dialog, name])
        dialog.connect("response") { _ in retained.end() }
        gtk_window_present(dialog.cast())
        name.grabFocus()
    }
}
