extension Translator {
    /// Joins items as the language does: “table layout, some spacing”.
    public func list(_ items: [String]) -> String {
        guard let first = items.first else { return "" }
        let translator = self
        return items.dropFirst().reduce(first) {
            // Translators: a list, and the item after it.
            translator("{list}, {item}", ["list": $0, "item": $1])
        }
    }
}
