/// The state whose changes are reported to observers after each event.
struct ComposerAppearance {
    var selection: TextRange
    var height: Int
    var exceedsLimit: Bool
    var showsCompletion: Bool
    var highlightedMention: Span.ID?

    func reportChanges(since before: ComposerAppearance, _ transaction: inout EventTransaction) {
        if let highlightedMention, highlightedMention != before.highlightedMention {
            transaction.observe(.mentionSelected)
        }
        if showsCompletion != before.showsCompletion {
            transaction.observe(showsCompletion ? .completionShown : .completionHidden)
        }
        if exceedsLimit != before.exceedsLimit { transaction.observe(exceedsLimit ? .limitExceeded : .limitMet) }
        if height != before.height { transaction.observe(.heightChanged) }
    }
}

// Not an initializer of the appearance: that would copy the whole message for each key press.
extension MessageWriter {
    var appearance: ComposerAppearance {
        ComposerAppearance(
            selection: editor.selection, height: height, exceedsLimit: editor.counter?.exceeded ?? false,
            showsCompletion: editor.followers.completing.isVisible, highlightedMention: editor.text.highlightedMention)
    }
}
