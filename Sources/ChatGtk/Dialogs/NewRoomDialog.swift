import ChatViewModels
import GtkKit

/// Asks for the name of a new local room.
enum NewRoomDialog {
    static func present(over parent: Widget, _ create: @escaping @MainActor (String) -> Void) {
        let builder = Builder(resource: Resource.ui("new-room"))
        let dialog: MessageDialog = builder["dialog"]
        let name: Entry = builder["name"]
        dialog.setTransient(for: parent)
        dialog.nameResponses()
        // Capture weakly: the dialog owns its signal handlers.
        name.onChange { [weak dialog, weak name] in
            guard let dialog, let name else { return }
            dialog.setResponse("create", isEnabled: RoomName.valid(name.text) != nil)
        }
        dialog.onResponse("create") { [weak name] in
            if let name = name.flatMap({ RoomName.valid($0.text) }) { create(name) }
        }
        // Retains the wrappers while the dialog is open.
        let retained = RetainedWidgets([dialog, name])
        dialog.onResponse { retained.end() }
        dialog.present()
        name.grabFocus()
    }
}
