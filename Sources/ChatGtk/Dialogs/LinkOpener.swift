import CGtk
public import ChatCore
import ChatViewModels
import ComposerGtk
public import GtkKit

/// Opens links in the default applications, after a confirmation for suspicious ones.
public final class LinkOpener {
    /// Launches the default application; replaced in tests.
    var launch: (_ address: String, _ parent: Widget?) -> Void = { address, parent in
        shim_show_uri(parent?.pointer, address)
    }
    private(set) var dialog: Widget?

    public init() {}

    /// Opens the link, or asks for confirmation if its text disguises the target.
    /// - Parameter widget: A widget in the window that the dialog is modal to.
    public func open(_ link: BodyLink, from widget: Widget) {
        let window = gtk_widget_get_root(widget.cast()).map { Widget(borrowing: UnsafeMutableRawPointer($0)) }
        switch LinkOpening(link) {
        case .address(let address):
            if !widget.activateAction("win.open-address", address) { launch(address, window) }
        case .application(let address): launch(address, window)
        case .confirmation(let confirmation): present(confirmation, over: window)
        }
    }

    private func present(_ confirmation: LinkConfirmation, over window: Widget?) {
        let dialog = Widget(sinking: adw_message_dialog_new(window?.cast(), confirmation.heading(.gettext), nil))
        dialog.setProperty("body", confirmation.body(.gettext, asciiHost: Self.asciiHost))
        dialog.addResponse("cancel", translated("_Cancel"))
        dialog.addResponse("copy", translated("Copy _Link"))
        if confirmation.canOpen {
            let isSuspicious = confirmation.isSuspicious
            dialog.addResponse("open", translated("_Open"))
            adw_message_dialog_set_response_appearance(
                dialog.cast(), "open", isSuspicious ? ADW_RESPONSE_DESTRUCTIVE : ADW_RESPONSE_SUGGESTED)
            adw_message_dialog_set_default_response(dialog.cast(), isSuspicious ? "cancel" : "open")
        }
        adw_message_dialog_set_close_response(dialog.cast(), "cancel")
        let address = confirmation.address
        dialog.connect("response::open") { [weak self, weak window] _ in self?.launch(address, window) }
        dialog.connect("response::copy") { [weak window] _ in
            guard let window, let clipboard = gtk_widget_get_clipboard(window.cast()) else { return }
            gdk_clipboard_set_text(clipboard, address)
        }
        dialog.connect("response") { [weak self] _ in self?.dialog = nil }
        self.dialog = dialog
        gtk_window_present(dialog.cast())
    }

    /// Returns an internationalized host name in ASCII, or the name itself if it is malformed.
    static func asciiHost(_ host: String) -> String {
        let ascii = g_hostname_to_ascii(host)
        defer { g_free(ascii) }
        return ascii.map { String(cString: $0) } ?? host
    }
}
