import ChatCore
import Composer

/// A character of a rendered message with its style and mention.
struct MarkedLetter: Equatable {
    var letter: Character
    var style: InlineStyle
    var link: LinkTarget?
    var mention: MentionTarget?
    var spoiler: Spoiler?
    var foreground: BodyColor?
    var background: BodyColor?
}

extension MessageBody {
    /// All characters in order. White space and block boundaries are ignored, as Markdown and HTML may change them; a
    /// mention without an address is sent as plain text.
    var markedLetters: [MarkedLetter] { Self.letters(in: blocks) }

    private static func letters(in blocks: [BodyBlock]) -> [MarkedLetter] {
        blocks.flatMap { block -> [MarkedLetter] in
            switch block {
            case .text(let text), .heading(_, let text): letters(in: text)
            case .code(let code, _): letters(in: InlineText([InlineRun(code, style: .code)]))
            case .rule: []
            case .quote(let blocks): letters(in: blocks)
            case .list(let list): list.items.flatMap { letters(in: $0.blocks) }
            case .table(let table):
                letters(in: table.caption) + table.rows.flatMap { $0.flatMap { letters(in: $0.text) } }
            case .details(let summary, let blocks): letters(in: summary) + letters(in: blocks)
            }
        }
    }

    private static func letters(in text: InlineText) -> [MarkedLetter] {
        text.runs.flatMap { run in
            run.text.filter { !$0.isWhitespace }.map { letter in
                MarkedLetter(
                    letter: letter, style: run.style, link: run.link?.target,
                    mention: run.mention.flatMap { $0.link == nil ? nil : $0 }, spoiler: run.spoiler,
                    foreground: run.foreground, background: run.background)
            }
        }
    }
}
