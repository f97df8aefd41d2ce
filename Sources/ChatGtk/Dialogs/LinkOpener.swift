import CGtk
public import ChatCore
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
        // Matrix links open in this window.
        if link.warnings.isEmpty, ChatAddress(link.target.address) != nil,
            widget.activateAction("win.open-address", link.target.address)
        {
            return
        }
        if link.warnings.isEmpty, link.target.scheme != .ftp {
            launch(link.target.address, window)
        } else {
            presentConfirmation(about: link, over: window)
        }
    }

    private func presentConfirmation(about link: BodyLink, over window: Widget?) {
        let isSuspicious = link.warnings.isSuspicious
        let heading = isSuspicious ? translated("Do You Trust This Link?") : translated("Open This Link?")
        let dialog = Widget(sinking: adw_message_dialog_new(window?.cast(), heading, nil))
        dialog.setProperty("body", Self.explanation(of: link))
        dialog.addResponse("cancel", translated("_Cancel"))
        dialog.addResponse("copy", translated("Copy _Link"))
        // FTP links can only be copied: current desktops have no handler that asks before it downloads.
        if link.target.scheme != .ftp {
            dialog.addResponse("open", translated("_Open"))
            adw_message_dialog_set_response_appearance(
                dialog.cast(), "open", isSuspicious ? ADW_RESPONSE_DESTRUCTIVE : ADW_RESPONSE_SUGGESTED)
            adw_message_dialog_set_default_response(dialog.cast(), isSuspicious ? "cancel" : "open")
        }
        adw_message_dialog_set_close_response(dialog.cast(), "cancel")
        let address = link.target.address
        dialog.connect("response::open") { [weak self, weak window] _ in self?.launch(address, window) }
        dialog.connect("response::copy") { [weak window] _ in
            guard let window, let clipboard = gtk_widget_get_clipboard(window.cast()) else { return }
            gdk_clipboard_set_text(clipboard, address)
        }
        dialog.connect("response") { [weak self] _ in self?.dialog = nil }
        self.dialog = dialog
        gtk_window_present(dialog.cast())
    }

    /// Returns the link's target and what is suspicious about it.
    static func explanation(of link: BodyLink) -> String {
        let address = link.target.address
        var paragraphs = [address.count > 300 ? address.prefix(300) + "…" : address]
        let host = link.target.host ?? ""
        if link.warnings.contains(.namesAnotherHost) {
            paragraphs.append(translated("The text of the link names another address than the one it leads to."))
        }
        if link.warnings.contains(.credentials) {
            paragraphs.append(
                translated("The link leads to %@. What stands before the @ is only a name.").replacing("%@", with: host)
            )
        }
        if link.warnings.contains(.internationalHost) {
            let plain = g_hostname_to_ascii(host)
            defer { g_free(plain) }
            let name = plain.map { String(cString: $0) } ?? host
            paragraphs.append(
                translated("Its letters may look like others. Written plainly, the address is %@.")
                    .replacing("%@", with: name))
        }
        if link.warnings.contains(.hiddenCharacters) {
            paragraphs.append(
                translated("The text of the link has characters that cannot be seen or turn its direction."))
        }
        return paragraphs.joined(separator: "\n\n")
    }
}
