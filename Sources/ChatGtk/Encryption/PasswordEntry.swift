import CGtk
import GtkKit

/// A field that hides its text, with a button that reveals it.
///
/// Use it in message dialogs: libadwaita 1.2 crashes if one is destroyed while a password row in it has the focus.
final class PasswordEntry: Widget, Editable {
    convenience init(_ label: String) {
        self.init(sinking: gtk_password_entry_new())
        setProperty("show-peek-icon", true)
        setProperty("placeholder-text", label)
        setAccessibleLabel(label)
    }

    func onActivate(_ handler: @escaping @MainActor () -> Void) { connect("activate") { _ in handler() } }
}
