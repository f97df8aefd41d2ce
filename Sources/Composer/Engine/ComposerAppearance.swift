/// What observers hear of if an event changes it.
struct ComposerAppearance {
    var selection: TextRange
    var height: Int
    var exceedsLimit: Bool
    var showsCompletion: Bool
    var highlightedMention: Span.ID?

    init(of message: MessageWriter) {
        selection = message.editor.selection
        height = message.height
        exceedsLimit = message.editor.counter?.exceeded ?? false
        showsCompletion = message.editor.completing.isVisible
        highlightedMention = message.editor.text.highlightedMention
    }

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
