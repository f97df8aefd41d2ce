import ComposerGtk
public import GtkKit

/// Asks once whether Parlance keeps running after its window is closed.
public enum BackgroundDialog {
    /// The question while it is open.
    private static var question: MessageDialog?

    /// Has no effect while the question is open: an impatient user closes the window more than once.
    /// - Parameter onAnswer: receives the choice. Not called if the user dismisses the dialog, which keeps the window.
    public static func present(over parent: Widget, onAnswer: @escaping @MainActor (Bool) -> Void) {
        // A dialog within a window that is destroyed does not report that it was closed.
        guard question?.root == nil else { return }
        let dialog = MessageDialog(
            heading: translated("Run in Background?"),
            body: translated(
                "Parlance can keep running after you close its window, to receive messages and show notifications. You can change this in Preferences."
            ))
        dialog.addResponse("quit", translated("_Quit"))
        dialog.addResponse("run", translated("_Run in Background"), .suggested)
        dialog.setResponses(default: "run", close: "cancel")
        dialog.onResponse("quit") { onAnswer(false) }
        dialog.onResponse("run") { onAnswer(true) }
        dialog.onClosed { question = nil }
        question = dialog
        dialog.present(over: parent)
    }

    /// Reports that the desktop does not allow background operation.
    public static func presentDenial(over parent: Widget) {
        let dialog = MessageDialog(
            heading: translated("Cannot Run in Background"),
            body: translated("The system does not allow Parlance to run without a window."))
        dialog.addResponse("close", translated("_Close"))
        dialog.setResponses(default: "close", close: "close")
        dialog.present(over: parent)
    }
}
