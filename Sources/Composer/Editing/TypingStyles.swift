/// The styles of the text typed next: those that the user chose, or else those of the text before the caret (HKW-13).
struct TypingStyles: Sendable {
    /// `nil` inherits.
    private var chosen: Set<TextStyle>?

    func styles(before offset: Int, in document: ComposerDocument) -> Set<TextStyle> {
        chosen ?? document.styles(before: offset)
    }

    mutating func set(_ style: TextStyle, _ isOn: Bool, before offset: Int, in document: ComposerDocument) {
        var styles = styles(before: offset, in: document)
        if isOn { styles.put(style) } else { styles.remove(style) }
        chosen = styles
    }

    mutating func clear() { chosen = [] }

    /// Discards the user's choice, since the caret moved other than by typing.
    mutating func inherit() { chosen = nil }
}
