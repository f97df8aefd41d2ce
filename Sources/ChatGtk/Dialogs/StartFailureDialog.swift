import CGtk
public import ChatViewModels
import ComposerGtk
public import GtkKit

/// Shows startup errors in a window, since users who launch from an icon see no terminal.
public enum StartFailureDialog {
    /// - Parameter quit: Called when the user closes the dialog.
    public static func present(
        application: Application, _ failure: StartFailure, quit: @escaping @MainActor () -> Void
    ) {
        let dialog = Widget(sinking: adw_message_dialog_new(nil, failure.heading(.gettext), nil))
        gtk_window_set_application(dialog.cast(), application.cast())
        dialog.setProperty("body", failure.body(.gettext))
        dialog.addResponse("quit", translated("_Quit"))
        adw_message_dialog_set_default_response(dialog.cast(), "quit")
        adw_message_dialog_set_close_response(dialog.cast(), "quit")
        dialog.connect("response") { _ in quit() }
        gtk_window_present(dialog.cast())
    }
}
