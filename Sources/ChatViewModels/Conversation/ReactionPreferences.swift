public import ChatCore

/// Reactions are not encrypted, in encrypted rooms neither: whether they are used there.
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

/// How reactions are added in a room.
public nonisolated enum ReactionPolicy: Equatable, Sendable {
    case allowed
    /// After a question, as they are not encrypted and the room is.
    case asks
    case off
}

/// Asks before the first reaction in an encrypted room.
public nonisolated struct ReactionQuestion: Equatable, Sendable {
    public enum Answer: Equatable, Sendable {
        case react
        case cancel
        /// No reactions are added in encrypted rooms from now on.
        case never
    }

    let message: MessageID
    let reaction: String

    /// The action that carries out an answer.
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
