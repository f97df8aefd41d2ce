import ChatCore

/// Chooses a room's avatar: its own, or in a room of two that of the other member. (The specification defines this only
/// for names: calculating the display name for a room.)
struct RoomAvatar {
    static let uriSetting = "matrix.avatar"
    static let heroSetting = "matrix.hero"

    /// The room's own avatar, or `nil` without one.
    let storedURI: String?
    /// The only other member, or `nil` if there are several.
    let hero: String?

    /// Returns how an update changes the avatar.
    /// - Parameter settings: Room settings to store with the update.
    /// - Returns: The new avatar, or `nil` if the update does not change it.
    func change(
        by update: RoomUpdate, _ parsedState: ParsedRoomState, ownUserID: MemberID, _ settings: inout [String: String?]
    ) -> String?? {
        if let avatar = parsedState.avatar { settings.updateValue(avatar, forKey: Self.uriSetting) }
        var hero = hero
        if let heroes = update.heroes {
            let others = heroes.filter { $0.id != ownUserID }
            hero = others.count == 1 ? others[0].id.rawValue : nil
            settings.updateValue(hero, forKey: Self.heroSetting)
        }
        if let uri = parsedState.avatar ?? storedURI { return .some(uri) }
        if let member = parsedState.members.first(where: { $0.id.rawValue == hero }) { return .some(member.avatar) }
        if let avatar = update.heroes?.first(where: { $0.id.rawValue == hero })?.avatar { return .some(avatar) }
        return parsedState.avatar != nil || update.heroes != nil && hero == nil ? .some(nil) : nil
    }
}
