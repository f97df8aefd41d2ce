import ChatCore
import FoundationEssentials

/// The edits of a room that could not be read.
struct UnreadableEdits {
    private var newest: [MessageID: [MemberID: UnreadableEdit]] = [:]

    init(_ edits: [UnreadableEdit]) {
        for edit in edits {
            let known = newest[edit.target]?[edit.sender]
            if known.map({ $0.sentAt < edit.sentAt }) ?? true { newest[edit.target, default: [:]][edit.sender] = edit }
        }
    }

    /// Why the latest edit of a message could not be read; `nil` if it was read, or there is none. An edit by anyone
    /// else changes nothing.
    func reason(for message: Message) -> SealReason? {
        guard !message.isDeleted, message.event == nil, message.kind != .sealed,
            let edit = newest[message.id]?[message.sender], edit.sentAt > message.editedAt ?? .distantPast
        else { return nil }
        return edit.reason
    }
}
