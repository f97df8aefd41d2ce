public import ChatCore

/// A destructive action that the user confirms first.
public nonisolated struct TimelineConfirmation: Equatable, Sendable {
    nonisolated enum Subject: Equatable, Sendable {
        case deletion(MessageID)
        /// Of a message that was not sent.
        case discard(MessageID)
        case deletionOfSelected(count: Int)
        case discardOfFailed(count: Int)
    }

    let subject: Subject
    /// Whether nobody else is in the room.
    let isAlone: Bool

    init(_ subject: Subject, isAlone: Bool) {
        self.subject = subject
        self.isAlone = isAlone
    }

    /// Asks for what a message needs.
    init(deleting item: MessageItem, isAlone: Bool) {
        self.init(item.delivery == .failed ? .discard(item.id) : .deletion(item.id), isAlone: isAlone)
    }

    /// The action to send once it is confirmed.
    public var action: TimelineViewModel.Action {
        switch subject {
        case .deletion(let id), .discard(let id): .message(id, .delete)
        case .deletionOfSelected: .selection(.delete)
        case .discardOfFailed: .failed(.discardAll)
        }
    }

    public func heading(_ translator: Translator) -> String {
        switch subject {
        case .deletion: translator("Delete the message?")
        case .discard: translator("Discard the message?")
        case .deletionOfSelected(let count):
            translator.plural("Delete %d message?", "Delete %d messages?", count).replacing("%d", with: "\(count)")
        case .discardOfFailed(let count):
            translator.plural("Discard %d message?", "Discard %d messages?", count).replacing("%d", with: "\(count)")
        }
    }

    public func body(_ translator: Translator) -> String {
        switch subject {
        case .discard: translator("It was not sent. Nobody else has what it says.")
        case .discardOfFailed: translator("What was not sent is deleted. Nobody else has what it says.")
        case .deletion where isAlone, .deletionOfSelected where isAlone:
            translator("Only you are in this room. What was said cannot be brought back.")
        case .deletion, .deletionOfSelected: translator("What was said is deleted for everyone in the room.")
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
