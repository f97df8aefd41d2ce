public import ChatCore

extension RoomDetailsViewModel.State {
    /// The title of the member list.
    public nonisolated func memberCountText(_ translator: Translator) -> String {
        translator.plural("{count} member", "{count} members", memberCount)
    }

    /// The title of the encryption row.
    public nonisolated func encryptionTitle(_ translator: Translator) -> String {
        isEncrypted == true ? translator("Encrypted") : translator("Not Encrypted")
    }

    /// Its subtitle.
    public nonisolated func encryptionText(_ translator: Translator) -> String {
        isEncrypted == true
            ? translator(
                "Only members can read messages and files. Servers can see the name, topic, members, and reactions.")
            : translator("Servers can read messages and files in this room")
    }

    /// What stands below the listed members if there are more; `nil` if all are listed.
    public nonisolated func unlistedText(_ translator: Translator) -> String? {
        unlistedCount == 0
            ? nil : translator.plural("Search to find {count} more", "Search to find {count} more", unlistedCount)
    }
}

extension RoomMembers.Entry {
    /// The label of the button that removes the member.
    public nonisolated func removalLabel(_ translator: Translator) -> String {
        translator("Remove {name}", ["name": member.displayName])
    }

    /// A member's details besides the name: whether it is the user, the role, and whether it was only invited.
    public nonisolated func detail(_ translator: Translator) -> String {
        var components: [String] = []
        switch member.kind {
        case .own: components.append(translator("You"))
        case .guide: components.append(translator("Built-in guide"))
        case .person: break
        }
        switch role {
        case .administrator: components.append(translator("Administrator"))
        case .moderator: components.append(translator("Moderator"))
        case .member: break
        }
        if isInvited { components.append(translator("Invited")) }
        return components.joined(separator: " · ")
    }
}
