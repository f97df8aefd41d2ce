import Composer
import JSONReading

/// Parses the `markdown` option: a list of rules, or an object keyed by kind (`bold`, `code block`, …).
struct MarkdownOptionParser {
    static func rules(_ value: Argument) throws -> [MarkdownRule] {
        if case .object(let kinds) = value.value {
            for name in kinds.keys.sorted() where kind(named: name) == nil {
                throw ReplayError("unknown Markdown \"\(name)\"")
            }
            return try MarkdownRule.commonMark.compactMap { base in
                let entry = kinds.sorted { $0.key < $1.key }.first { kind(named: $0.key) == base.kind }
                return try entry.map { try rule(Argument($0.value), base: base) }
            }
        }
        return try value.array().map { entry in
            let fields = try entry.object(required: ["symbol"], optional: keys)
            let symbol = try fields["symbol"].string()
            var rule = try rule(entry, base: MarkdownRule(symbol: symbol, title: symbol, form: form(of: symbol)))
            rule.kind = kind(titled: rule.title)
            return rule
        }
    }

    private static func kind(named name: String) -> MarkdownRule.Kind? {
        MarkdownRule.Kind.allCases.first { $0.rawValue.lowercased() == name.lowercased() }
    }

    /// Traces name the kind of a rule in a list by its title, which may be that of the Slack preset.
    private static func kind(titled title: String) -> MarkdownRule.Kind? {
        (MarkdownRule.commonMark + MarkdownRule.slack).first { $0.title == title }?.kind
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
