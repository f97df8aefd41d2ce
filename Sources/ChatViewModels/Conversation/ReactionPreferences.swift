public import ChatCore

/// Whether to use reactions in encrypted rooms, where they are not encrypted.
public nonisolated struct ReactionPreferences: Equatable, Sendable {
    public var areUsedInEncryptedRooms: Bool
    /// Whether the user was told that they are not encrypted.
    public var isExplained: Bool

    public init(areUsedInEncryptedRooms: Bool = true, isExplained: Bool = false) {
        self.areUsedInEncryptedRooms = areUsedInEncryptedRooms
        self.isExplained = isExplained
    }

    var policyInEncryptedRooms: ReactionPolicy {
        if !areUsedInEncryptedRooms { return .off }
        return isExplained ? .allowed : .asks
    }
}

/// Whether reactions can be added in a room.
public nonisolated enum ReactionPolicy: Equatable, Sendable {
    case allowed
    /// After a question, since the room is encrypted and reactions are not.
    case asks
    case off
}

/// The question before the first reaction in an encrypted room.
public nonisolated struct ReactionQuestion: Equatable, Sendable {
    public enum Answer: Equatable, Sendable {
        case react
        case cancel
        /// The user wants no reactions in encrypted rooms.
        case never
    }

    let message: MessageID
    let reaction: String

    /// Returns the action that performs an answer.
    public func action(for answer: Answer) -> TimelineViewModel.Action? {
        switch answer {
        case .react: .message(message, .reactUnencrypted(reaction))
        case .cancel: nil
        case .never: .context(.declinedReactions)
        }
    }

    public func heading(_ translator: Translator) -> String { translator("React Without Encryption?") }

    public func body(_ translator: Translator) -> String {
        translator(
            "Messages in this room are encrypted, reactions are not. The servers of its members can see which emoji you react with, and to which message."
        )
    }

    /// The label of the button that adds the reaction, with a mnemonic.
    public func button(_ translator: Translator) -> String { translator("_React") }
    /// The label of the choice not to use reactions.
    public func rejection(_ translator: Translator) -> String { translator("Do not use reactions in encrypted rooms") }
}
