import Composer
import JSONReading

/// Parses the options of `configure` on top of a preset.
struct OptionParser {
    static func configuration(_ argument: Argument) throws -> ComposerConfiguration {
        guard case .object(let values) = argument.value else { throw ReplayError.wrongArgument("an object") }
        var configuration = ComposerConfiguration()
        if let preset = values["preset"] {
            configuration = .preset(try choice(Argument(preset), ComposerConfiguration.Preset.self))
        }
        for (name, value) in values.sorted(by: { $0.key < $1.key }) where name != "preset" {
            try set(name, Argument(value), in: &configuration)
        }
        return configuration
    }

    private static func set(_ name: String, _ value: Argument, in options: inout ComposerConfiguration) throws {
        do {
            if try setCompletion(name, value, in: &options.completion) { return }
            if try setFlag(name, value, in: &options) { return }
            if try setText(name, value, in: &options) { return }
        } catch let error as ReplayError {
            throw ReplayError("option \(name): \(error.message)")
        }
        throw ReplayError("unknown option \"\(name)\"")
    }

    private static func setText(_ name: String, _ value: Argument, in options: inout ComposerConfiguration) throws
        -> Bool
    {
        switch name {
        case "maxLines": options.maxLines = try growthLimit(value)
        case "characterLimit": options.characterLimit = try isNone(value) ? nil : value.integer()
        case "limitPolicy": options.limitPolicy = try choice(value, LimitPolicy.self)
        case "countUnit": options.countUnit = try choice(value, CountUnit.self)
        case "counterStyle": options.counterStyle = try choice(value, CounterStyle.self)
        case "markdown": options.markdown = try MarkdownOptionParser.rules(value)
        case "sendKey": options.sendKey = try choice(value, SendKey.self)
        case "undoDepth": options.undoDepth = try value.count()
        case "typingTimeout": options.typingTimeout = .seconds(try value.measure())
        case "draftDelay": options.draftDelay = .seconds(try value.measure())
        case "attachmentLimit": options.attachments.count = try isNone(value) ? nil : value.count()
        case "attachmentBytes": options.attachments.bytes = try isNone(value) ? nil : value.count()
        case "pastedTypes": options.attachments.pastedTypes = try value.array().map { try $0.string() }
        default: return false
        }
        return true
    }

    private static func setFlag(_ name: String, _ value: Argument, in options: inout ComposerConfiguration) throws
        -> Bool
    {
        let flags: [String: WritableKeyPath<ComposerConfiguration, Bool>] = [
            "doubleSpaceCloses": \.doubleSpaceCloses, "doubleSpacePeriod": \.doubleSpacePeriod,
            "continuesLists": \.continuesLists, "clearsOnSend": \.clearsOnSend, "keepsUndoOnSend": \.keepsUndoOnSend,
            "trimsSentText": \.trimsSentText, "clearsBlankOnBlur": \.clearsBlankOnBlur,
            "keepPrefix": \.completion.keepPrefix, "mentionTokens": \.completion.mentionTokens,
            "continueAfterEmpty": \.completion.continueAfterEmpty,
        ]
        guard let flag = flags[name] else { return false }
        options[keyPath: flag] = try value.bool()
        return true
    }

    private static func setCompletion(_ name: String, _ value: Argument, in options: inout CompletionOptions) throws
        -> Bool
    {
        switch name {
        case "prefixes": options.rules = try value.array().map(rule)
        case "boundary": options.boundary = try choice(value, CompletionBoundary.self)
        case "queryExtent": options.queryExtent = try choice(value, QueryExtent.self)
        case "querySpaces": options.querySpaces = try value.count()
        case "implicitLength": options.implicitLength = try value.count()
        case "afterAccept": options.afterAccept = try choice(value, AfterAccept.self)
        case "mentionBackspace": options.mentionBackspace = try choice(value, MentionBackspace.self)
        case "mentionTrim": options.mentionTrim = try choice(value, MentionTrim.self)
        case "controlCharacters": options.controlCharacters = try value.array().map(oneCharacter)
        case "resultsThrottle": options.resultsThrottle = try value.measure()
        case "completionRows": options.rows = try value.count()
        default: return false
        }
        return true
    }

    /// Parses a prefix, or an object with `prefix` and further fields of `CompletionRule`.
    private static func rule(_ value: Argument) throws -> CompletionRule {
        if case .string(let prefix) = value.value {
            guard !prefix.isEmpty else { throw ReplayError.wrongArgument("a prefix") }
            // A bare prefix uses Parlance's rule for it.
            let presetRule = ComposerConfiguration.preset(.parlance).completion.rules.first { $0.prefix == prefix }
            return presetRule ?? CompletionRule(prefix: prefix)
        }
        let fields = try value.object(
            required: ["prefix"],
            optional: ["minQuery", "position", "boundary", "spaces", "template", "keepPrefix", "mentionTokens"])
        var rule = CompletionRule(prefix: try fields["prefix"].string())
        guard !rule.prefix.isEmpty else { throw ReplayError.wrongArgument("a prefix") }
        if let count = fields.optional("minQuery") { rule.minQuery = try count.count() }
        if let position = fields.optional("position") {
            rule.position = try choice(position, CompletionRule.Position.self)
        }
        if let boundary = fields.optional("boundary") { rule.boundary = try choice(boundary, CompletionBoundary.self) }
        rule.spaces = try fields.optional("spaces")?.count()
        rule.template = try fields.optional("template")?.string()
        rule.keepPrefix = try fields.optional("keepPrefix")?.bool()
        rule.mentionTokens = try fields.optional("mentionTokens")?.bool()
        return rule
    }

    private static func oneCharacter(_ value: Argument) throws -> String {
        let text = try value.string()
        guard text.count == 1 else { throw ReplayError.wrongArgument("one character") }
        return text
    }

    private static func growthLimit(_ value: Argument) throws -> GrowthLimit {
        switch value.value {
        case .integer: return .lines(try value.count())
        case .string("byWindowHeight"): return .byWindowHeight
        case .object:
            let fields = try value.object(required: [], optional: ["fractionOfWindow", "pixels"])
            if let divisor = fields.optional("fractionOfWindow") { return .fractionOfWindow(try divisor.measure()) }
            if let pixels = fields.optional("pixels") { return .pixels(try pixels.measure()) }
        default: break
        }
        throw ReplayError.wrongArgument(#"a number, "byWindowHeight", {"fractionOfWindow": n} or {"pixels": n}"#)
    }

    private static func isNone(_ value: Argument) throws -> Bool {
        switch value.value {
        case .null, .string("none"): true
        default: false
        }
    }

    private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ value: Argument, _ type: Choice.Type
    ) throws -> Choice {
        guard let choice = Choice(rawValue: try value.string()) else {
            let names = Choice.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            throw ReplayError.wrongArgument("one of \(names)")
        }
        return choice
    }
}
