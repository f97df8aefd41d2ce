import ChatViewModels
import GtkKit

/// Asks for the name of a new local room.
enum NewRoomDialog {
    static func present(_ viewModel: NewLocalRoomViewModel, over parent: Widget) {
        let dialog = MessageDialog(
            heading: translated("New Room"), body: translated("This room stays on this computer."))
        let name = Entry()
        name.setPlaceholder(translated("Name"))
        name.activatesDefault = true
        name.maxLength = 100
        name.setAccessibleLabel(translated("Room name"))
        dialog.setExtraChild(name)
        dialog.addResponse("cancel", translated("_Cancel"))
        dialog.addResponse("create", translated("C_reate"), .suggested)
        dialog.setResponses(default: "create", close: "cancel")
        // Capture weakly: the dialog owns its signal handlers.
        name.onChange { [weak name] in
            if let name { viewModel.send(.name(name.text)) }
        }
        dialog.onResponse("create") { viewModel.send(.create) }
        let rendering = Rendering({ viewModel.state.canCreate }) { [weak dialog] in
            dialog?.setResponse("create", isEnabled: $0)
        }
        dialog.retain([dialog, name, rendering])
        dialog.present(over: parent)
        name.grabFocus()
    }
}
