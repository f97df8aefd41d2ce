/// The rules over a text. They hold a copy of the document, which changing it would have to duplicate: use them within
/// a single statement.
struct TextRules {
    let configuration: ComposerConfiguration
    let document: ComposerDocument
    let selection: TextRange

    var vetting: EditVetting { EditVetting(configuration: configuration, document: document) }
    var typing: TypingRules { TypingRules(configuration: configuration, document: document) }
    var mentionDeletion: MentionDeletion {
        MentionDeletion(document: document, options: configuration.completion)
    }
    var deletion: DeletionRule { DeletionRule(mentions: mentionDeletion, selection: selection) }
    var formatting: MarkdownFormatting { MarkdownFormatting(document: document, selection: selection) }
    /// How a fragment is pasted over the selection.
    var fragment: FragmentRule {
        FragmentRule(configuration: configuration, document: document, range: selection)
    }
}
