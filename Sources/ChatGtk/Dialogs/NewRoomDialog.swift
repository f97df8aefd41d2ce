import ChatViewModels
import GtkKit

/// Asks for the name of a new local room.
enum NewRoomDialog {
    static func present(_ viewModel: NewLocalRoomViewModel, over parent: Widget) {
        let builder = Builder(resource: Resource.ui("new-room"))
        let dialog: MessageDialog = builder["dialog"]
        let name: Entry = builder["name"]
        dialog.setTransient(for: parent)
        dialog.nameResponses()
        // Capture weakly: the dialog owns its signal handlers.
        name.onChange { [weak name] in
            if let name { viewModel.send(.name(name.text)) }
        }
        dialog.onResponse("create") { viewModel.send(.create) }
        let rendering = Rendering({ viewModel.state.canCreate }) { [weak dialog] in
            dialog?.setResponse("create", isEnabled: $0)
        }
        // Retains the wrappers while the dialog is open.
        let retained = RetainedWidgets([dialog, name, rendering])
        dialog.onResponse { retained.end() }
        dialog.present()
        name.grabFocus()
    }
}
