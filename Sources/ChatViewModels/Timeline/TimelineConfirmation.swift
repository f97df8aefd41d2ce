public import ChatCore

/// A destructive action that the user confirms first.
public nonisolated struct TimelineConfirmation: Equatable, Sendable {
    nonisolated enum Subject: Equatable, Sendable {
        case deletion(MessageID)
        /// Discarding a message that was not sent.
        case discard(MessageID)
        case deletionOfSelected(count: Int)
        case discardOfFailed([MessageID])
    }

    let subject: Subject
    /// Whether nobody else is in the room.
    let isAlone: Bool

    init(_ subject: Subject, isAlone: Bool) {
        self.subject = subject
        self.isAlone = isAlone
    }

    /// Asks whether to discard the message if it failed to send, or else whether to delete it.
    init(deleting item: MessageItem, isAlone: Bool) {
        self.init(item.delivery == .failed ? .discard(item.id) : .deletion(item.id), isAlone: isAlone)
    }

    /// The action to send once it is confirmed.
    public var action: TimelineViewModel.Action {
        switch subject {
        case .deletion(let id), .discard(let id): .message(id, .delete)
        case .deletionOfSelected: .selection(.delete)
        case .discardOfFailed(let ids): .failed(.discard(ids))
        }
    }

    public func heading(_ translator: Translator) -> String {
        switch subject {
        case .deletion: translator("Delete Message?")
        case .discard: translator("Discard Message?")
        case .deletionOfSelected(let count):
            translator.plural("Delete {count} Message?", "Delete {count} Messages?", count)
        case .discardOfFailed(let ids):
            translator.plural("Discard {count} Message?", "Discard {count} Messages?", ids.count)
        }
    }

    public func body(_ translator: Translator) -> String {
        switch subject {
        case .discard: translator("This message was not sent and will be lost.")
        case .discardOfFailed: translator("These messages were not sent and will be lost.")
        case .deletion where isAlone, .deletionOfSelected where isAlone:
            translator("You are the only member of this room. Deleted messages cannot be restored.")
        case .deletion, .deletionOfSelected: translator("Deleted messages are removed for everyone in this room.")
        }
    }

    /// The label of the button that confirms, with a mnemonic.
    public func button(_ translator: Translator) -> String {
        switch subject {
        case .deletion, .deletionOfSelected: translator("_Delete")
        case .discard, .discardOfFailed: translator("_Discard")
        }
    }
}
