public import Foundation

/// Applies changes to a message.
extension Message {
    public mutating func edit(to wording: Wording, at date: Date) {
        content.wording = wording
        editedAt = date
        unreadableEdit = nil
    }

    /// Clears the message's content; the message stays as a placeholder.
    public mutating func delete() {
        isDeleted = true
        content.wording = Wording("")
        content.attachments = []
        content.seal = nil
        reactions = []
        upload = nil
        unreadableEdit = nil
    }

    /// Adds or removes a member's reaction.
    public mutating func setReaction(_ text: String, isAdded: Bool, by member: MemberID) {
        let index = reactions.firstIndex { $0.text == text }
        if isAdded {
            guard let index else { return reactions.append(Reaction(text: text, senders: [member])) }
            if !reactions[index].senders.contains(member) { reactions[index].senders.append(member) }
        } else if let index {
            reactions[index].senders.removeAll { $0 == member }
            if reactions[index].senders.isEmpty { reactions.remove(at: index) }
        }
    }
}
