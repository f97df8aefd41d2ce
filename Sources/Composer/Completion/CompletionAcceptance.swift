/// What accepting an entity inserts (SLK-24, HKW-53, HKW-54, MIB-28).
struct CompletionAcceptance {
    let entity: CompletionEntity
    /// The token that is replaced; `nil` if there is none.
    let token: CompletionToken?
    /// The range that is replaced.
    let range: TextRange
    let mention: Mention?
    let change: TextChange

    init(_ entity: CompletionEntity, named name: String, token: CompletionToken?, at site: CompletionSite) {
        self.entity = entity
        self.token = token
        var range = token?.range ?? site.selection
        if let token, token.kind == .implicit {
            range = Self.swallowing(range, token.query, name, in: site.document)
        }
        self.range = range
        let (text, mention) = Self.insertion(of: entity, named: name, rule: token?.rule, site.options)
        self.mention = mention
        let space = Self.space(after: range, in: site.document, site.options.afterAccept)
        let length = text.utf16.count
        change = TextChange(
            replacing: range, with: text + space, origin: .typed,
            selection: Self.reusedSpace(after: range, in: site.document, site.options.afterAccept, inserted: space)
                .map { .caret(range.location + length + $0) },
            marks: mention.map { mention in
                let markRange = TextRange(location: range.location, length: length)
                return [WrittenText.Mark(.mention(mention.target), over: markRange, short: mention.short)]
            } ?? [])
    }

    private static func insertion(
        of entity: CompletionEntity, named name: String, rule: CompletionRule?, _ options: CompletionOptions
    ) -> (text: String, mention: Mention?) {
        if let replacement = entity.replacement?.withoutNUL(), !replacement.isEmpty { return (replacement, nil) }
        let prefix = rule?.keepPrefix ?? options.keepPrefix ? rule?.prefix ?? "" : ""
        func written(_ name: String) -> String {
            if let template = rule?.template { return template.replacing("{name}", with: name) }
            // Of someone without a name, or a room without one, the name is an address, which has its sigil.
            return name.hasPrefix(prefix) ? name : prefix + name
        }
        let text = written(name)
        guard rule?.mentionTokens ?? options.mentionTokens else { return (text, nil) }
        let short = entity.short?.withoutNUL()
        return (text, Mention(entity.target ?? .custom(entity.id), text: text, short: short.map(written)))
    }

    /// The white space to insert after the accepted text; an existing space is reused rather than doubled.
    private static func space(after range: TextRange, in document: ComposerDocument, _ rule: AfterAccept) -> String {
        let next = document.character(at: range.end)
        switch rule {
        case .nothing: return ""
        case .space: return " "
        case .oneSpace: return next?.isInlineSpace ?? false ? "" : " "
        case .spaceAtParagraphEnd: return next?.isLineBreak ?? true ? " " : ""
        }
    }

    /// The length of an existing space that the caret moves past, or `nil` if none is reused.
    private static func reusedSpace(
        after range: TextRange, in document: ComposerDocument, _ rule: AfterAccept, inserted: String
    ) -> Int? {
        guard rule == .oneSpace, inserted.isEmpty else { return nil }
        return document.clusterBoundary(after: range.end) - range.end
    }

    /// If the query is a later word of the name and the preceding words are already in the text, replaces them as
    /// well: `bruce wayn` becomes `Bruce Wayne` (HKW-53).
    private static func swallowing(
        _ range: TextRange, _ query: String, _ name: String, in document: ComposerDocument
    ) -> TextRange {
        let words = name.split(whereSeparator: \.isBlank).map { String($0) }
        guard let wordIndex = words.firstIndex(where: { $0.lowercased().hasPrefix(query.lowercased()) }), wordIndex > 0
        else {
            return range
        }
        let before = words[..<wordIndex].joined(separator: " ") + " "
        let start = range.location - before.utf16.count
        guard start >= 0, document.clusterStart(at: start) == start else { return range }
        let written = TextRange(start: start, end: range.location)
        let isWhole = document.character(before: start).map { !$0.isWordCharacter } ?? true
        let touchesMention = document.mentions.contains { $0.range.intersects(written) }
        guard isWhole, !touchesMention, document.text(in: written).lowercased() == before.lowercased() else {
            return range
        }
        return TextRange(start: start, end: range.end)
    }
}
