public import ChatCore
public import Composer

/// The texts of suggestions.
public struct CompletionText {
    private let translator: Translator

    public init(_ translator: Translator) {
        self.translator = translator
    }

    /// The text of the row that explains why suggestions are missing.
    public func status(_ completion: CompletionState) -> String {
        completion.hasFailed ? failure(completion) : translator("Loading…")
    }

    private func failure(_ completion: CompletionState) -> String {
        completion.failureReason ?? translator("Could not load suggestions")
    }

    /// The announcement: the selected suggestion and its position, or else the number of suggestions.
    public func announcement(_ completion: CompletionState) -> String {
        let count = completion.items.count
        guard !completion.hasFailed, count > 0 else { return status(completion) }
        guard let selected = completion.selected, completion.items.indices.contains(selected) else {
            return translator.plural("{count} suggestion", "{count} suggestions", count)
        }
        let entity = completion.items[selected]
        let name = translator.list([entity.name, entity.detail].compactMap(\.self))
        return translator(
            "{name}, {number} of {total}", ["name": name, "number": "\(selected + 1)", "total": "\(count)"])
    }
}
