public import ChatCore
import ChatViewModels
import ComposerGtk
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
        switch LinkOpening(link) {
        case .address(let address):
            if !widget.activateAction("win.open-address", address) { launch(address, window) }
        case .application(let address): launch(address, window)
        case .confirmation(let confirmation): present(confirmation, over: window)
        }
    }

    private func present(_ confirmation: LinkConfirmation, over window: Widget?) {
        let body = confirmation.body(.gettext) { HostName.ascii($0) ?? $0 }
        let dialog = MessageDialog(heading: confirmation.heading(.gettext), body: body)
        typealias Response = LinkConfirmation.Response
        dialog.addResponse(Response.cancel.rawValue, translated("_Cancel"))
        dialog.addResponse(Response.copy.rawValue, translated("Copy _Link"))
        if confirmation.canOpen {
            dialog.addResponse(
                Response.open.rawValue, translated("_Open"), confirmation.isSuspicious ? .destructive : .suggested)
        }
        dialog.setResponses(default: confirmation.defaultResponse?.rawValue, close: Response.cancel.rawValue)
        let address = confirmation.address
        dialog.onResponse(Response.open.rawValue) { [weak self, weak window] in self?.launch(address, window) }
        dialog.onResponse(Response.copy.rawValue) { [weak window] in window?.clipboard.setText(address) }
        dialog.onResponse { [weak self] in self?.dialog = nil }
        self.dialog = dialog
        dialog.present(over: window)
    }
}
