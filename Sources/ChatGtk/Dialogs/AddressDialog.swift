import ChatCore
import GtkKit

/// Asks for the address of a room or user, or a link to one.
enum AddressDialog {
    static func present(over parent: Widget, _ open: @escaping @MainActor (String) -> Void) {
        let dialog = MessageDialog(
            over: parent, heading: translated("Join Room"),
            body: translated("Enter a room address or a link. To start a direct chat, enter a Matrix ID."))
        let address = Entry()
        address.setPlaceholder(translated("#room:server or @name:server"))
        address.activatesDefault = true
        address.setAccessibleLabel(translated("Address"))
        dialog.setExtraChild(address)
        dialog.addResponse("cancel", translated("_Cancel"))
        dialog.addResponse("open", translated("_Open"), .suggested)
        dialog.setResponse("open", isEnabled: false)
        dialog.setResponses(default: "open", close: "cancel")
        // Capture weakly: the dialog owns its signal handlers.
        address.onChange { [weak dialog, weak address] in
            guard let dialog, let address else { return }
            dialog.setResponse("open", isEnabled: ChatAddress(address.text) != nil)
        }
        dialog.onResponse("open") { [weak address] in
            if let text = address?.text, ChatAddress(text) != nil { open(text) }
        }
        let retained = RetainedWidgets([dialog, address])
        dialog.onResponse { retained.end() }
        dialog.present()
        address.grabFocus()
    }
}
