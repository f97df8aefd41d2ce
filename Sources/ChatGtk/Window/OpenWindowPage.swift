import ChatCore
import ChatViewModels
import GtkKit

/// In place of a conversation that has a window of its own: a button that brings that to the front.
final class OpenWindowPage {
    let widget: Widget
    private let backButton: Widget
    private let header: HeaderBar
    private let page: StatusPage
    private let button: Button

    /// - Parameter onPresent: brings the room's window to the front.
    init(onPresent: @escaping @MainActor () -> Void) {
        let builder = Builder(resource: Resource.ui("open-window"))
        widget = builder["page"]
        backButton = builder["back_button"]
        header = builder["header"]
        page = builder["status"]
        button = builder["present"]
        button.onClick(onPresent)
    }

    /// Focuses the button: Return brings the window to the front.
    func grabFocus() { button.grabFocus() }

    func show(_ name: String?, isFolded: Bool) {
        page.title = name ?? ""
        backButton.isVisible = isFolded
        header.showsStartTitleButtons = isFolded
    }
}
