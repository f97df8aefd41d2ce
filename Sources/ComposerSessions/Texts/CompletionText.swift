public import ChatCore
public import Composer

/// The texts of suggestions.
public struct CompletionText {
    private let translator: Translator

    public init(_ translator: Translator) {
        self.translator = translator
    }

    /// The text of the row that tells why there are no suggestions, or not yet all.
    public func status(_ completion: CompletionState) -> String {
        completion.hasFailed ? failure(completion) : translator("Loading…")
    }

    private func failure(_ completion: CompletionState) -> String {
        completion.failureReason ?? translator("Could not load suggestions")
    }

    /// What assistive technology says: the selected suggestion and its place, or else how many there are.
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
