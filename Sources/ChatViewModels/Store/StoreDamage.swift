public import ChatCore

/// What the user learns of a damaged store.
public nonisolated enum StoreDamage: Equatable, Sendable {
    /// The store cannot be opened. A repair renames and preserves its folder.
    case unreadable(reason: String, folder: String)
    /// A repair has recovered this much, and the damaged folder is now at `setAside`.
    case repaired(rooms: Int, messages: Int, unsentTexts: Int, setAside: String)
    /// Damage was found while the store is in use.
    case found(reason: String)

    public func heading(_ translator: Translator) -> String {
        switch self {
        case .unreadable: translator("Conversations Cannot Be Read")
        case .repaired: translator("Conversations Were Repaired")
        case .found: translator("Conversations Are Damaged")
        }
    }

    public func body(_ translator: Translator) -> String {
        switch self {
        case .unreadable(let reason, let folder):
            let explanation = translator(
                "The file with your conversations is damaged. Parlance can keep everything in it that is still readable, and go on with that. Nothing is deleted: the damaged folder stays beside its place under another name."
            )
            return [explanation, folder, reason].joined(separator: "\n\n")
        case .repaired(let rooms, let messages, let unsentTexts, let setAside):
            let result =
                rooms + messages + unsentTexts == 0
                ? translator("Nothing in the damaged file could be read any more.")
                : translator("This could be kept:") + "\n\n"
                    + counts(translator, rooms: rooms, messages: messages, unsentTexts: unsentTexts)
            return result + "\n\n" + translator("The damaged folder is now here:") + "\n" + setAside
        case .found(let reason):
            return translator(
                "After Parlance had not ended as it should, the file with your conversations was checked, and damage was found. Some messages may not be shown. At its next start Parlance will offer to repair it; unsent texts are in another file and safe."
            ) + "\n\n" + reason
        }
    }

    private func counts(_ translator: Translator, rooms: Int, messages: Int, unsentTexts: Int) -> String {
        [
            translator.plural("{count} message", "{count} messages", messages),
            translator.plural("{count} conversation", "{count} conversations", rooms),
            translator.plural("{count} unsent text", "{count} unsent texts", unsentTexts),
        ].joined(separator: "\n")
    }
}
