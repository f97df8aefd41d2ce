import ChatCore
import ChatStore

/// Chooses a room's avatar: its own or, in a room of two, the other member's. (The specification defines this only
/// for names: calculating the display name for a room.)
struct RoomAvatar {
    /// The state after the update, its heroes included.
    let state: RoomState
    let ownUserID: MemberID

    /// Returns how an update changes the avatar; `nil` if it does not.
    func change(by update: RoomUpdate, _ parsedState: ParsedRoomState) -> String?? {
        if let uri = state.avatar { return .some(uri) }
        let others = state.heroes.filter { $0 != ownUserID }
        let hero = others.count == 1 ? others[0] : nil
        if let member = parsedState.members.first(where: { $0.id == hero }) { return .some(member.avatar) }
        if let avatar = update.heroes?.first(where: { $0.id == hero })?.avatar { return .some(avatar) }
        return parsedState.setsAvatar || update.heroes != nil && hero == nil ? .some(nil) : nil
    }
}
