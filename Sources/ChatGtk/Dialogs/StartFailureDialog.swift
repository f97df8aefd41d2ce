public import ChatViewModels
import ComposerGtk
public import GtkKit

/// Shows startup errors in a window, since users who launch from an icon see no terminal.
public enum StartFailureDialog {
    /// - Parameter quit: Called when the user closes the dialog.
    public static func present(
        application: Application, _ failure: StartFailure, quit: @escaping @MainActor () -> Void
    ) {
        let dialog = MessageDialog(heading: failure.heading(.gettext), body: failure.body(.gettext))
        dialog.addResponse("quit", translated("_Quit"))
        dialog.setResponses(default: "quit", close: "quit")
        dialog.onResponse { quit() }
        dialog.present(over: nil, in: application)
    }
}
