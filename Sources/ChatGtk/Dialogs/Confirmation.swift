import ChatViewModels
import GtkKit

/// Asks for confirmation of a destructive action.
enum Confirmation {
    static func present(
        over parent: Widget, heading: String, body: String, action: String,
        cancelled: @escaping @MainActor () -> Void = {}, _ confirmed: @escaping @MainActor () -> Void
    ) {
        let dialog = MessageDialog(heading: heading, body: body)
        dialog.addResponse("cancel", translated("_Cancel"))
        dialog.addResponse("confirm", action, .destructive)
        dialog.setResponses(default: "cancel", close: "cancel")
        dialog.onResponse("confirm") { confirmed() }
        dialog.onResponse("cancel") { cancelled() }
        dialog.present(over: parent)
    }

    static func present(
        _ text: ConfirmationText, over parent: Widget, cancelled: @escaping @MainActor () -> Void = {},
        _ confirmed: @escaping @MainActor () -> Void
    ) {
        present(
            over: parent, heading: text.heading, body: text.body, action: text.action, cancelled: cancelled, confirmed)
    }
}
