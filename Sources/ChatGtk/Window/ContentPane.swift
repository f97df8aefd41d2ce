import ChatCore
import ChatViewModels
import GtkKit

/// The right pane: the open conversation or invitation, or a page that says that none is open.
final class ContentPane {
    /// Events in the pane that concern the window.
    struct Outputs {
        /// The user wants to forward these messages to another room.
        var forwardingRequested: ([MessageID]) -> Void
        /// The user opened a mention, which leads to this address.
        var addressActivated: (String) -> Void
    }

    private let stack: Stack
    private let settings: Settings?
    private let outputs: Outputs
    private(set) var conversationView: ConversationView?
    private(set) var invitationView: InvitationView?
    /// The view model of what is displayed.
    private var displayedItem: AnyObject?

    init(_ stack: Stack, settings: Settings?, outputs: Outputs) {
        self.stack = stack
        self.settings = settings
        self.outputs = outputs
    }

    var isEmpty: Bool { conversationView == nil && invitationView == nil }

    /// Shows what is open in the account.
    /// - Returns: whether it was not shown already.
    func show(_ account: DisplayedAccount) -> Bool {
        let coordinator = account.coordinator
        let openItem: AnyObject? = coordinator.conversation ?? coordinator.invitation
        if let openItem, openItem === displayedItem { return false }
        displayedItem = openItem
        let previous = page
        conversationView = coordinator.conversation.map { makeView(of: $0, in: account) }
        invitationView =
            conversationView == nil
            ? coordinator.invitation.map { InvitationView($0, avatarLoader: account.avatars) } : nil
        if let page {
            stack.add(page)
            stack.show(page)
        } else {
            stack.visibleChild = "none"
        }
        if let previous { stack.remove(previous) }
        return true
    }

    /// - Parameters:
    ///   - row: the row of the open room, if it is listed.
    ///   - isFolded: whether the room list is on another page.
    func show(_ row: RoomListViewModel.Row?, isFolded: Bool) {
        invitationView?.show(isFolded: isFolded)
        if let row { conversationView?.show(row, isFolded: isFolded) }
    }

    func grabFocus() {
        conversationView?.focusComposer()
        invitationView?.grabFocus()
    }

    private var page: Widget? { conversationView?.widget ?? invitationView?.widget }

    private func makeView(of conversation: Conversation, in account: DisplayedAccount) -> ConversationView {
        ConversationView(
            conversation: conversation, settings: settings, avatars: account.avatars,
            lookUpRoom: { [weak rooms = account.coordinator.rooms] address in
                let row = rooms?.state.row(at: address)
                return (row?.name, row?.avatar)
            },
            outputs: ConversationView.Outputs(
                forwardingRequested: outputs.forwardingRequested,
                addressActivated: account.coordinator.dialogs.canSearchUsers ? outputs.addressActivated : nil))
    }
}
