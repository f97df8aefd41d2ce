import ChatViewModels
import GtkKit

/// Asks for the address of a room or user, or a link to one.
enum AddressDialog {
    static func present(_ viewModel: AddressViewModel, over parent: Widget) {
        let dialog = MessageDialog(
            heading: translated("Join Room"),
            body: translated("Enter a room address or a link. To start a direct chat, enter a Matrix ID."))
        let address = Entry()
        address.setPlaceholder(translated("#room:server or @name:server"))
        address.activatesDefault = true
        address.setAccessibleLabel(translated("Address"))
        dialog.setExtraChild(address)
        dialog.addResponse("cancel", translated("_Cancel"))
        dialog.addResponse("open", translated("_Open"), .suggested)
        dialog.setResponses(default: "open", close: "cancel")
        // Capture weakly: the dialog owns its signal handlers.
        address.onChange { [weak address] in
            if let address { viewModel.send(.address(address.text)) }
        }
        dialog.onResponse("open") { viewModel.send(.open) }
        let rendering = Rendering({ viewModel.state.canOpen }) { [weak dialog] in
            dialog?.setResponse("open", isEnabled: $0)
        }
        dialog.retain([dialog, address, rendering])
        dialog.present(over: parent)
        address.grabFocus()
    }
}
