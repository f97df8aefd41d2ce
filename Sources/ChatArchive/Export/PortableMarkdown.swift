import ChatCore
import Composer
import MessageMarkup

/// Writes a body as Markdown for other applications, which have no marks and read stars within words as emphasis.
struct PortableMarkdown {
    private struct Delimiters {
        var open: String
        var close: String
    }

    /// What stands for a star within a word while the body is written; `nil` if the body has no stars.
    private let star: String?

    static func source(of body: MessageBody) -> String {
        let star = placeholder(for: body)
        let writer = PortableMarkdown(star: star)
        let portable = MessageBody(blocks: writer.portable(body.blocks))
        let source = withoutMarks(MessageMarkup.written(body: portable).text)
        return star.map { source.replacing($0, with: "\\*") } ?? source
    }

    // MARK: Stars

    /// Returns a private-use character that the body does not contain, or `nil` if it has no stars.
    private static func placeholder(for body: MessageBody) -> String? {
        let text = body.plainText()
        guard text.utf8.contains(UInt8(ascii: "*")) else { return nil }
        let used = Set(text.unicodeScalars.map { $0.value })
        let unused = (UInt32(0xE000)...UInt32(0xEFFF)).first { !used.contains($0) }
        return unused.flatMap { Unicode.Scalar($0) }.map { String(Character($0)) }
    }

    /// Replaces the stars within words. ``MessageMarkup`` does not escape them, because it does not read them as
    /// emphasis, but in CommonMark the 3 of `2*3*4` is emphasized.
    private func withoutStars(_ text: String) -> String {
        guard let star, text.utf8.contains(UInt8(ascii: "*")) else { return text }
        var result = ""
        var rest = text[...]
        while let start = rest.firstIndex(of: "*") {
            let end = rest[start...].firstIndex { $0 != "*" } ?? rest.endIndex
            let stars = rest[start..<end]
            let isWithinWord =
                start > text.startIndex && end < text.endIndex && Self.isOfWord(text[text.index(before: start)])
                && Self.isOfWord(text[end])
            result += rest[..<start]
            result += isWithinWord ? String(repeating: star, count: stars.count) : String(stars)
            rest = rest[end...]
        }
        return result + rest
    }

    private static func isOfWord(_ character: Character) -> Bool { character.isLetter || character.isNumber }

    // MARK: Body

    private func portable(_ blocks: [BodyBlock]) -> [BodyBlock] {
        blocks.map { block -> BodyBlock in
            switch block {
            case .text(let text): return .text(portable(text))
            case .heading(let level, let text): return .heading(level: level, portable(text))
            case .code, .rule: return block
            case .quote(let blocks): return .quote(portable(blocks))
            case .list(var list):
                for index in list.items.indices { list.items[index].blocks = portable(list.items[index].blocks) }
                return .list(list)
            case .table(var table):
                table.caption = portable(table.caption)
                for row in table.rows.indices {
                    for cell in table.rows[row].indices {
                        table.rows[row][cell].text = portable(table.rows[row][cell].text)
                    }
                }
                return .table(table)
            case .details(let summary, let blocks): return .details(summary: portable(summary), portable(blocks))
            }
        }
    }

    /// Puts the reason of a spoiler before it: with a reason it would become a mark, as `||…||` has none.
    private func portable(_ text: InlineText) -> InlineText {
        var result = InlineText()
        for group in text.groups(by: \.spoiler) {
            if let spoiler = group.key, !spoiler.reason.isEmpty { result.append(InlineRun("(\(spoiler.reason)) ")) }
            for run in group.runs {
                var run = run
                if run.spoiler != nil { run.spoiler = Spoiler() }
                // A star in a bare address must stay, and in code a backslash would be visible.
                let isText = run.link == nil && run.mention == nil && run.image == nil && !run.style.contains(.code)
                if isText { run.text = withoutStars(run.text) }
                result.append(run)
            }
        }
        return result
    }

    // MARK: Marks

    /// Returns the source with delimiters in place of the marks of mentions, links and spoilers. Other styles are lost.
    private static func withoutMarks(_ written: WrittenText) -> String {
        guard !written.marks.isEmpty else { return written.source }
        var opening: [Int: String] = [:]
        var closing: [Int: String] = [:]
        var mentionEnds: [Int: Int] = [:]
        for mark in written.marks {
            guard let found = delimiters(of: mark.content) else { continue }
            opening[mark.range.location, default: ""] += found.open
            // What opened last closes first.
            closing[mark.range.end] = found.close + closing[mark.range.end, default: ""]
            if mark.mention != nil { mentionEnds[mark.range.location] = mark.range.end }
        }
        let units = Array(written.source.utf16)
        let cuts = Set(opening.keys).union(closing.keys).union([0, units.count]).sorted()
        let ends = Array(cuts.dropFirst()) + [units.count]
        var mentionEnd = 0
        var result = ""
        for (start, end) in zip(cuts, ends) {
            result += closing[start, default: ""] + opening[start, default: ""]
            mentionEnd = mentionEnds[start] ?? mentionEnd
            let text = String(decoding: units[start..<end], as: UTF16.self)
            // The text of a mention is literal only under its mark.
            result += start < mentionEnd ? MarkdownExport.escaped(text) : text
        }
        return result
    }

    private static func delimiters(of content: WrittenText.Mark.Content) -> Delimiters? {
        switch content {
        case .mention(let target):
            return target.link.map { linkDelimiters(for: $0.address) } ?? Delimiters(open: "", close: "")
        case .style(.link(let address)): return linkDelimiters(for: address)
        case .style(let style):
            // A spoiler is a mark where `||` would be read as something else, as in a table, whose cells a bar ends.
            return style.spoiler == nil ? nil : Delimiters(open: "\\|\\|", close: "\\|\\|")
        case .file: return nil
        }
    }

    private static func linkDelimiters(for address: String) -> Delimiters {
        Delimiters(open: "[", close: "](" + MarkdownDestination.written(address) + ")")
    }
}
