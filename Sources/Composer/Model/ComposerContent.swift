/// Text with mentions as the host hands it over: a stored message, a draft of its own (HKW-67).
public struct ComposerContent: Hashable, Sendable {
    /// A mention and where its text stands.
    public struct PlacedMention: Hashable, Sendable {
        public var mention: Mention
        public var range: TextRange

        public init(mention: Mention, range: TextRange) {
            self.mention = mention
            self.range = range
        }
    }

    public var text: String
    public var mentions: [PlacedMention]
    /// Nil puts the caret at the end.
    public var selection: TextRange?

    public init(text: String, mentions: [PlacedMention] = [], selection: TextRange? = nil) {
        self.text = text
        self.mentions = mentions
        self.selection = selection
    }

    /// The content as a document. A mention that does not cover exactly its text becomes plain text.
    public var document: ComposerDocument {
        var document = ComposerDocument(text)
        for placed in mentions { _ = document.addMention(placed.mention, over: placed.range) }
        return document
    }
}
