public import ChatCore

/// The report to the user about a damaged store.
public nonisolated enum StoreDamage: Equatable, Sendable {
    /// The store cannot be opened. A repair renames and preserves its folder.
    case unreadable(reason: String, folder: String)
    /// A repair has recovered this much, and the damaged folder is now at `setAside`.
    case repaired(rooms: Int, messages: Int, unsentTexts: Int, setAside: String)
    /// The histories of accounts were repaired when they were opened.
    case accountsRepaired([AccountRepair])
    /// Damage was found while the store is in use.
    case found(reason: String)

    public func heading(_ translator: Translator) -> String {
        switch self {
        case .unreadable: translator("Could Not Open Message History")
        case .repaired, .accountsRepaired: translator("Message History Recovered")
        case .found: translator("Message History Is Damaged")
        }
    }

    public func body(_ translator: Translator) -> String {
        switch self {
        case .unreadable(let reason, let folder):
            let explanation = translator(
                "The message history is damaged. Parlance can recover the messages that are still readable. Nothing is deleted: the damaged folder is renamed and kept."
            )
            return [explanation, folder, reason].joined(separator: "\n\n")
        case .repaired(let rooms, let messages, let unsentTexts, let setAside):
            let result =
                rooms + messages + unsentTexts == 0
                ? translator("No messages could be recovered.")
                : translator("Recovered:") + "\n\n"
                    + counts(translator, rooms: rooms, messages: messages, unsentTexts: unsentTexts)
            return result + "\n\n" + place(setAside, translator)
        case .accountsRepaired(let repairs):
            return repairs.map { repair in
                // Where the damage is, there is no gap that says so.
                let result = translator(
                    "The message history of {account} was damaged and has been recovered. Newer messages are loaded from the server again. Some older messages may be missing.",
                    ["account": repair.account])
                return result + "\n\n" + place(repair.setAside, translator)
            }.joined(separator: "\n\n")
        case .found(let reason):
            return translator(
                "Some messages may be missing. Parlance will offer to recover them the next time it starts. Your drafts and unsent messages are safe."
            ) + "\n\n" + reason
        }
    }

    private func place(_ folder: String, _ translator: Translator) -> String {
        translator("The damaged folder was moved to:") + "\n" + folder
    }

    private func counts(_ translator: Translator, rooms: Int, messages: Int, unsentTexts: Int) -> String {
        [
            translator.plural("{count} message", "{count} messages", messages),
            translator.plural("{count} room", "{count} rooms", rooms),
            translator.plural("{count} unsent message", "{count} unsent messages", unsentTexts),
        ].joined(separator: "\n")
    }
}
