public import ChatCore
public import GtkKit

/// Opens links in the default applications, after a confirmation for suspicious ones.
public final class LinkOpener {
    /// Launches the default application; replaced in tests.
    var launch: (_ address: String, _ parent: Widget?) -> Void = { URILauncher.show($0, over: $1) }
    private(set) var dialog: MessageDialog?

    public init() {}

    /// Opens the link, or asks for confirmation if its text disguises the target.
    /// - Parameter widget: A widget in the window that the dialog is modal to.
    public func open(_ link: BodyLink, from widget: Widget) {
        let window = widget.window
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
        let dialog = MessageDialog(over: window, heading: heading, body: Self.explanation(of: link))
        dialog.addResponse("cancel", translated("_Cancel"))
        dialog.addResponse("copy", translated("Copy _Link"))
        // FTP links can only be copied: current desktops have no handler that asks before it downloads.
        if link.target.scheme != .ftp {
            dialog.addResponse("open", translated("_Open"), isSuspicious ? .destructive : .suggested)
        }
        let canOpen = link.target.scheme != .ftp
        dialog.setResponses(default: canOpen ? isSuspicious ? "cancel" : "open" : nil, close: "cancel")
        let address = link.target.address
        dialog.onResponse("open") { [weak self, weak window] in self?.launch(address, window) }
        dialog.onResponse("copy") { [weak window] in window?.clipboard.setText(address) }
        dialog.onResponse { [weak self] in self?.dialog = nil }
        self.dialog = dialog
        dialog.present()
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
            let name = HostName.ascii(host) ?? host
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
