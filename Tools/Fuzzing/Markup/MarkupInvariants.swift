public import ChatCore
public import Composer
import MessageMarkup

/// Invariants of message bodies for arbitrary input.
public enum MarkupInvariants {
    /// Parses, serializes, and repeats both. Returns a description of the violated invariant, or `nil` if all hold.
    public static func violation(of text: String, isHTML: Bool) -> String? {
        let body = isHTML ? MessageMarkup.body(html: text) : MessageMarkup.body(markdown: text, names: names)
        if let broken = violation(of: body) { return broken }
        let html = MessageMarkup.html(of: body)
        if let broken = SafeHTML.violation(of: html) { return "\(broken) in \(html)" }
        if html.utf8.count > 200 + 48 * text.utf8.count { return "\(html.utf8.count) bytes came out" }
        let again = MessageMarkup.sanitized(html: html)
        if isHTML {
            guard again == html else { return "\(html) becomes \(again)" }
            return editViolation(of: text)
        }
        if let broken = SafeHTML.violation(of: again) { return "\(broken) in \(again)" }
        let thrice = MessageMarkup.sanitized(html: again)
        guard thrice == again else { return "\(again) becomes \(thrice)" }
        return plainViolation(text, body)
    }

    /// Checks the HTML sent for a written text, and the text to edit that is made from it.
    public static func violation(of text: WrittenText) -> String? {
        let body = MessageMarkup.body(of: text)
        if let broken = violation(of: body) { return broken }
        guard let html = MessageMarkup.html(of: text) else { return nil }
        if let broken = SafeHTML.violation(of: html) { return "\(broken) in \(html)" }
        return editViolation(of: html, mentionsEveryone: body.mentions.contains(.everyone))
    }

    /// If the conversion reports no loss, saving an unchanged edit must not change the rendered body or its mentions.
    public static func editViolation(of html: String, mentionsEveryone: Bool = false) -> String? {
        let body = MessageMarkup.body(html: html)
        let (written, losses) = MessageMarkup.written(html: html, mentionsEveryone: mentionsEveryone)
        guard losses.isEmpty else { return nil }
        let again = MessageMarkup.html(of: written)
        let sent =
            again.map { MessageMarkup.body(html: $0) }
            ?? MessageMarkup.body(plain: MessageMarkup.plainText(of: written))
        if !sent.readsLike(body) {
            return
                "\(html) is edited as \(written.source.debugDescription), \(written.marks), and becomes \(again ?? "text")"
        }
        let mentions = written.mentions.map(\.target).filter { $0.link != nil }
        let missing = body.mentions.filter { !mentions.contains($0) && !sent.mentions.contains($0) }
        return missing.isEmpty ? nil : "\(html) no longer mentions \(missing)"
    }

    static let names = MentionNames([
        Member(id: MemberID("ann"), displayName: "Ann", kind: .person),
        Member(id: MemberID("lee"), displayName: "Ann Lee", kind: .person),
    ])

    /// The fast path for plain text must agree with the parser.
    private static func plainViolation(_ text: String, _ body: MessageBody) -> String? {
        guard MessageMarkup.plainBody(markdown: text) != nil else { return nil }
        // A paragraph with formatting in front forces the text through the parser.
        let parsed = MessageMarkup.body(markdown: "**b**\n\n" + text)
        return parsed.blocks.dropFirst().elementsEqual(body.blocks) ? nil : "plain text that is not: \(text)"
    }

    /// Checks what must never be in a body.
    public static func violation(of body: MessageBody) -> String? {
        var deepest = 0
        return violation(in: body.blocks, depth: 0, &deepest)
            ?? (deepest > MessageBody.maxDepth ? "nested \(deepest) deep" : nil)
    }

    private static func violation(in blocks: [BodyBlock], depth: Int, _ deepest: inout Int) -> String? {
        deepest = max(deepest, depth)
        for block in blocks {
            let broken: String?
            switch block {
            case .text(let text): broken = text.isEmpty ? "empty paragraph" : violation(in: text)
            case .heading(let level, let text):
                broken = (1...6).contains(level) ? violation(in: text) : "heading of level \(level)"
            case .code(let code, _): broken = code.isEmpty ? "empty code" : nil
            case .quote(let blocks): broken = violation(in: blocks, depth: depth + 1, &deepest)
            case .list(let list): broken = violation(in: list, depth: depth, &deepest)
            case .table(let table):
                let cells = table.rows.flatMap { $0 }
                broken = cells.lazy.compactMap { violation(in: $0.text) }.first ?? violation(in: table.caption)
            case .rule: broken = nil
            case .details(let summary, let blocks):
                broken = violation(in: summary) ?? violation(in: blocks, depth: depth + 1, &deepest)
            }
            if let broken { return broken }
        }
        return nil
    }

    private static func violation(in list: BodyList, depth: Int, _ deepest: inout Int) -> String? {
        if let start = list.start, !(0...999_999_999).contains(start) { return "list from \(start)" }
        if list.items.isEmpty { return "empty list" }
        for item in list.items {
            if let broken = violation(in: item.blocks, depth: depth + 2, &deepest) { return broken }
        }
        return nil
    }

    private static func violation(in text: InlineText) -> String? {
        for run in text.runs {
            if run.text.isEmpty { return "empty run" }
            if let image = run.image, !image.source.hasPrefix("mxc://") { return "image from \(image.source)" }
            if let link = run.link {
                guard LinkTarget(link.target.address) == link.target else { return "target \(link.target.address)" }
                let hidden = link.target.address.unicodeScalars.contains {
                    $0.value <= 0x20 || $0.value == 0x7F || HiddenCharacters.contains($0)
                }
                if hidden { return "hidden characters in \(link.target.address)" }
            }
        }
        for (first, second) in zip(text.runs, text.runs.dropFirst()) where first.matchesFormatting(second) {
            return "two runs that look the same"
        }
        return nil
    }
}
