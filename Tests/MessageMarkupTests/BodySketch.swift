import ChatCore
import Composer

/// Returns a body as one line for comparison: `P(a {b:bold})`.
func sketch(_ body: MessageBody) -> String {
    (body.isEmote ? "EMOTE " : "") + sketch(body.blocks)
}

private func sketch(_ blocks: [BodyBlock]) -> String {
    blocks.map(sketch).joined(separator: " ")
}

private func sketch(_ block: BodyBlock) -> String {
    switch block {
    case .text(let text): "P(\(sketch(text)))"
    case .heading(let level, let text): "H\(level)(\(sketch(text)))"
    case .code(let code, let language): "CODE \(language ?? "-")(\(code.replacing("\n", with: "⏎")))"
    case .quote(let blocks): "QUOTE(\(sketch(blocks)))"
    case .list(let list):
        (list.start.map { "OL\($0)" } ?? "UL")
            + "("
            + list.items.map { ($0.isChecked.map { $0 ? "x:" : "o:" } ?? "") + sketch($0.blocks) }
            .joined(separator: "; ") + ")"
    case .table(let table):
        "TABLE\(table.caption.isEmpty ? "" : "[\(sketch(table.caption))]")("
            + table.rows.map { row in
                row.map { ($0.isHeader ? "#" : "") + $0.alignment.sign + sketch($0.text) }.joined(separator: " | ")
            }.joined(separator: "; ") + ")"
    case .rule: "RULE"
    case .details(let summary, let blocks): "DETAILS[\(sketch(summary))](\(sketch(blocks)))"
    }
}

private func sketch(_ text: InlineText) -> String {
    text.runs.map { run in
        let words = run.text.replacing("\n", with: "⏎")
        let looks = looks(run)
        return looks.isEmpty ? words : "{\(looks.joined(separator: ",")):\(words)}"
    }.joined()
}

private func looks(_ run: InlineRun) -> [String] {
    let names: [(InlineStyle, String)] = [
        (.bold, "b"), (.italic, "i"), (.strike, "s"), (.underline, "u"), (.code, "c"), (.superscript, "sup"),
        (.subscript, "sub"),
    ]
    var looks = names.filter { run.style.contains($0.0) }.map(\.1)
    if let link = run.link { looks.append("→\(link.target.address)") }
    if let mention = run.mention {
        switch mention {
        case .member(let id): looks.append("member \(id)")
        case .room(let id, let via): looks.append("room \(([id] + via).joined(separator: " "))")
        case .custom(let id): looks.append("custom \(id)")
        case .everyone: looks.append("everyone")
        }
    }
    if let spoiler = run.spoiler { looks.append("spoiler" + (spoiler.reason.isEmpty ? "" : " \(spoiler.reason)")) }
    if let color = run.foreground { looks.append("fg\(color.hexadecimal)") }
    if let color = run.background { looks.append("bg\(color.hexadecimal)") }
    if let image = run.image { looks.append("img \(image.source) \(image.width ?? 0)x\(image.height ?? 0)") }
    return looks
}

extension BodyTable.Alignment {
    fileprivate var sign: String {
        switch self {
        case .start: ""
        case .center: "^"
        case .end: ">"
        }
    }
}
