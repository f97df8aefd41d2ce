public import ChatCore
import ChatViewModels
public import GtkKit

/// Explains the warning about a message's sender.
public enum TrustDialog {
    public static func present(_ trust: MessageTrust, over parent: Widget) {
        let dialog = MessageDialog(
            heading: MessageText.localized.trust(trust), body: MessageText.localized.explanation(trust))
        dialog.addResponse("close", translated("_Close"))
        dialog.setResponses(default: "close", close: "close")
        dialog.present(over: parent)
    }
}
