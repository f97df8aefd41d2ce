import ChatCore
import ChatTestSupport
import Testing

@testable import ChatViewModels

/// Avatars without an image.
@MainActor struct AvatarFallbackTests {
    @Test("Notes have an icon, on their own and in their details; other rooms have initials")
    func rooms() {
        for kind in [Room.Kind.notes, .group, .direct, .guide] {
            var state = RoomDetailsViewModel.State(name: "Tea")
            state.kind = kind
            #expect(state.avatarFallback == (kind == .notes ? .notes : .initials))
        }
    }

    @Test("The rooms on this computer have an icon among the accounts")
    func accounts() {
        let account = Account(id: "@ann:x", kind: "matrix", server: "https://x", device: "D", name: "ann")
        func row(_ account: Account?) -> AccountsCoordinator.Row {
            AccountsCoordinator.Row(
                id: account?.id ?? "", name: "", account: account, condition: .online, unreadCount: 0,
                isSelected: false)
        }
        #expect(row(nil).avatarFallback == .computer && row(account).avatarFallback == .initials)
    }
}
