import Composer
import JSONReading

/// Parses the `markdown` option: a list of rules, or an object keyed by kind (`bold`, `code block`, …).
struct MarkdownOptionParser {
    static func rules(_ value: Argument) throws -> [MarkdownRule] {
        if case .object(let kinds) = value.value {
            let standardRules = MarkdownRule.commonMark
            for name in kinds.keys.sorted()
            where !standardRules.contains(where: { $0.title.lowercased() == name.lowercased() }) {
                throw ReplayError("unknown Markdown \"\(name)\"")
            }
            return try standardRules.compactMap { base in
                let entry = kinds.sorted { $0.key < $1.key }.first { $0.key.lowercased() == base.title.lowercased() }
                return try entry.map { try rule(Argument($0.value), base: base) }
            }
        }
        return try value.array().map { entry in
            let fields = try entry.object(required: ["symbol"], optional: keys)
            let symbol = try fields["symbol"].string()
            return try rule(entry, base: MarkdownRule(symbol: symbol, title: symbol, form: form(of: symbol)))
        }
    }

    private static let keys = ["symbol", "title", "closes", "form", "offer"]

    private static func rule(_ value: Argument, base: MarkdownRule) throws -> MarkdownRule {
        let fields = try value.object(required: [], optional: keys)
        var rule = base
        if let symbol = fields.optional("symbol") { rule.symbol = try symbol.string() }
        if let title = fields.optional("title") { rule.title = try title.string() }
        if let form = fields.optional("form") {
            guard let parsedForm = MarkdownRule.Form(rawValue: try form.string()) else {
                throw ReplayError.wrongArgument("a form")
            }
            rule.form = parsedForm
        }
        if let offer = fields.optional("offer") {
            guard let parsedOffer = MarkdownRule.Offer(rawValue: try offer.string()) else {
                throw ReplayError.wrongArgument("an offer")
            }
            rule.offer = parsedOffer
        }
        if let closes = fields.optional("closes") { rule.closes = try closes.bool() }
        guard !rule.symbol.isEmpty else { throw ReplayError.wrongArgument("a symbol") }
        return rule
    }

    private static func form(of symbol: String) -> MarkdownRule.Form {
        switch symbol.first {
        case ">", "-", "+": .linePrefix
        case "[": .link
        default: symbol == "```" || symbol == "~~~" ? .fence : .pair
        }
    }
}
