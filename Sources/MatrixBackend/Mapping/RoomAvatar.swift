import ChatCore

/// Which picture stands for a room: its own, or that of the only other member (specification, calculating the display
/// name for a room, says the same of names).
struct RoomAvatar {
    static let uriSetting = "matrix.avatar"
    static let heroSetting = "matrix.hero"

    /// The room's own; nil without one.
    let storedURI: String?
    /// The only other member, where there is just one.
    let hero: String?

    /// - Parameter settings: of the room, to be kept with it.
    /// - Returns: what it is from now on; nil where nothing was told that changes it.
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
