import ChatCore
import ChatViewModels
import GtkKit

/// The placeholder for a conversation in a window of its own: a button that presents that window.
final class OpenWindowPage {
    let widget: Widget
    private let backButton: Widget
    private let header: HeaderBar
    private let page: StatusPage
    private let button: Button

    /// - Parameter onPresent: presents the room's window.
    init(onPresent: @escaping @MainActor () -> Void) {
        let builder = Builder(resource: Resource.ui("open-window"))
        widget = builder["page"]
        backButton = builder["back_button"]
        header = builder["header"]
        page = builder["status"]
        button = builder["present"]
        button.onClick(onPresent)
    }

    /// Focuses the button, so that Return presents the window.
    func grabFocus() { button.grabFocus() }

    func show(_ name: String?, isFolded: Bool) {
        page.title = name ?? ""
        backButton.isVisible = isFolded
        header.showsStartTitleButtons = isFolded
    }
}
