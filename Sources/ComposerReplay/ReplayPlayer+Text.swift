import Composer

extension ReplayPlayer {
    static let textVerbs: [String: Action] = [
        "load": { player, argument in
            let fields = try argument.object(required: ["text"], optional: ["selection", "mentions"])
            let content = try content(fields)
            player.handle(.load(content.written, selection: content.selection))
        },
        "type": { player, argument in
            for character in try argument.string() { player.handle(.insert(String(character), origin: .typed)) }
        },
        "insert": { player, argument in player.handle(.insert(try argument.string(), origin: .dictation)) },
        "preedit": { player, argument in player.handle(.preedit(try argument.string())) },
        "commit": { player, argument in player.handle(.commit(try argument.string())) },
        "backspace": { player, argument in
            player.repeatEvent(.deleteBackward(byWord: false), try argument.count())
        },
        "deleteForward": { player, argument in
            player.repeatEvent(.deleteForward(byWord: false), try argument.count())
        },
        "delete": { player, argument in
            player.handle(.edit(try player.document(checking: argument), replacement: "", origin: .typed))
        },
        "replace": { player, argument in
            let fields = try argument.object(required: ["range", "text"])
            let text = try fields["text"].string()
            player.handle(.edit(try player.document(checking: fields["range"]), replacement: text, origin: .typed))
        },
        "select": { player, argument in player.handle(.select(try player.document(checking: argument))) },
        "undo": { player, argument in player.repeatEvent(.undo, try argument.count()) },
        "redo": { player, argument in player.repeatEvent(.redo, try argument.count()) },
        "format": { player, argument in
            let name = try argument.string()
            guard player.engine.configuration.markdownRule(named: name) != nil else {
                throw ReplayError("no format \"\(name)\" is registered")
            }
            player.handle(.format(name))
        },
        "transform": { player, argument in
            let fields = try argument.object(required: ["range", "to"])
            let range = try player.document(checking: fields["range"])
            guard let transform = TextTransform(rawValue: try fields["to"].string()) else {
                throw ReplayError.wrongArgument(#""upper", "lower", "reverse" or "rot13""#)
            }
            player.record(player.engine.transform(range, at: player.clock) { transform.apply(to: $0) })
        },
        "word": { player, argument in
            let offset = try argument.integer()
            guard player.engine.document.contains(.caret(offset)) else { throw ReplayError("offset out of the text") }
            player.word = .some(player.engine.document.word(at: offset))
        },
    ]
}

/// The transforms of the verb `transform`.
private enum TextTransform: String {
    case upper, lower, reverse, rot13

    func apply(to text: String) -> String {
        switch self {
        case .upper: text.uppercased()
        case .lower: text.lowercased()
        case .reverse: String(text.reversed())
        case .rot13: String(String.UnicodeScalarView(text.unicodeScalars.map(Self.rotated)))
        }
    }

    private static func rotated(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        let first: UInt32
        switch scalar {
        case "a"..."z": first = 0x61
        case "A"..."Z": first = 0x41
        default: return scalar
        }
        return Unicode.Scalar((scalar.value - first + 13) % 26 + first) ?? scalar
    }
}
