import ChatCore
import ChatViewModels
import GtkKit

/// The right pane: the open conversation or invitation, or a placeholder page.
final class ContentPane {
    /// Events in the pane that concern the window.
    struct Outputs {
        /// The user wants to forward these messages to another room.
        var forwardingRequested: ([MessageID], Conversation) -> Void
        /// The user opened a mention, which leads to this address.
        var addressActivated: (String) -> Void
    }

    private let stack: Stack
    private let settings: Settings?
    private let outputs: Outputs
    private(set) var conversationView: ConversationView?
    private(set) var invitationView: InvitationView?
    private(set) var openWindowPage: OpenWindowPage?
    private var displayedItem: Shown?
    /// The account whose rooms ``conversationView`` can show.
    private var displayedAccount: DisplayedAccount?

    init(_ stack: Stack, settings: Settings?, outputs: Outputs) {
        self.stack = stack
        self.settings = settings
        self.outputs = outputs
    }

    var isEmpty: Bool { page == nil }
    /// Whether the keyboard focus is in what is open.
    var hasFocus: Bool {
        guard let page, let focus = page.root?.focus else { return false }
        return page.isAncestor(of: focus)
    }

    /// The room of the displayed invitation, if it belongs to the account and the user has accepted it.
    func acceptedRoom(in account: DisplayedAccount) -> RoomID? {
        guard displayedAccount == account, case .invitation(let invitation) = displayedItem,
            invitation.state.isAccepted
        else { return nil }
        return invitation.state.invitation.room
    }

    /// Shows what is open in the account.
    /// - Returns: whether it was not shown already.
    func show(_ account: DisplayedAccount) -> Bool {
        let coordinator = account.coordinator
        let shown = Shown(coordinator)
        if let shown, shown == displayedItem { return false }
        displayedItem = shown
        if case .conversation(let conversation) = shown, let conversationView, displayedAccount == account {
            conversationView.show(conversation)
            return true
        }
        displayedAccount = account
        let previous = page
        (conversationView, invitationView, openWindowPage) = (nil, nil, nil)
        switch shown {
        case .conversation(let conversation): conversationView = makeView(of: conversation, in: account)
        case .invitation(let invitation): invitationView = InvitationView(invitation, avatarLoader: account.avatars)
        case .window(let room):
            openWindowPage = OpenWindowPage { [weak coordinator] in coordinator?.openWindow(of: room) }
        case nil: break
        }
        if let page {
            stack.add(page)
            stack.show(page)
        } else {
            stack.visibleChild = "none"
        }
        if let previous { stack.remove(previous) }
        return true
    }

    /// What is displayed; view models are compared by identity.
    private enum Shown: Equatable {
        case conversation(Conversation)
        case invitation(InvitationViewModel)
        case window(RoomID)

        init?(_ coordinator: ConversationCoordinator) {
            if let conversation = coordinator.conversation {
                self = .conversation(conversation)
            } else if let invitation = coordinator.invitation {
                self = .invitation(invitation)
            } else if case .window(let room) = coordinator.openItem {
                self = .window(room)
            } else {
                return nil
            }
        }

        static func == (a: Self, b: Self) -> Bool {
            switch (a, b) {
            case (.conversation(let a), .conversation(let b)): a === b
            case (.invitation(let a), .invitation(let b)): a === b
            case (.window(let a), .window(let b)): a == b
            default: false
            }
        }
    }

    /// - Parameters:
    ///   - row: the row of the open room, if it is listed.
    ///   - isFolded: whether the room list is on another page.
    func show(_ row: RoomListViewModel.Row?, isFolded: Bool) {
        invitationView?.show(isFolded: isFolded)
        openWindowPage?.show(row?.name, isFolded: isFolded)
        if let row { conversationView?.show(row, isFolded: isFolded) }
    }

    func grabFocus() {
        conversationView?.focusComposer()
        invitationView?.grabFocus()
        openWindowPage?.grabFocus()
    }

    private var page: Widget? { conversationView?.widget ?? invitationView?.widget ?? openWindowPage?.widget }

    private func makeView(of conversation: Conversation, in account: DisplayedAccount) -> ConversationView {
        ConversationView.make(
            of: conversation, in: account, settings: settings,
            outputs: ConversationView.Outputs(
                forwardingRequested: { [weak self] messages in
                    guard let self, let conversation = conversationView?.conversation else { return }
                    outputs.forwardingRequested(messages, conversation)
                },
                addressActivated: outputs.addressActivated))
    }
}

extension ConversationView {
    /// Returns the view of an account's conversation.
    static func make(
        of conversation: Conversation, in account: DisplayedAccount, settings: Settings?, isInOwnWindow: Bool = false,
        outputs: Outputs
    ) -> ConversationView {
        var outputs = outputs
        if !account.coordinator.dialogs.canSearchUsers { outputs.addressActivated = nil }
        return ConversationView(
            conversation: conversation, settings: settings, avatars: account.avatars, isInOwnWindow: isInOwnWindow,
            lookUpRoom: { [weak rooms = account.coordinator.rooms] address in
                let row = rooms?.state.row(at: address)
                return (row?.name, row?.avatar)
            },
            outputs: outputs)
    }
}
