public import Composer

/// Turns bytes into a sequence of likely and unlikely events.
public struct RandomScript<Source: ByteSource> {
    private var source: Source
    private var clock = Duration.zero
    private var requests = 0

    public init(_ source: Source) {
        self.source = source
    }

    /// Creates a composer for the script, with random options that affect the text.
    public mutating func composer() -> ComposerEngine {
        let presets = ComposerConfiguration.Preset.allCases
        var configuration = ComposerConfiguration.preset(presets[source.number(below: presets.count)])
        let options = source.number(below: 256)
        if options & 1 != 0 { configuration.characterLimit = source.number(below: 40) }
        configuration.limitPolicy = options & 2 != 0 ? .hard : .soft
        configuration.countUnit = options & 4 != 0 ? .utf16 : .graphemes
        configuration.clearsOnSend = options & 8 == 0
        configuration.undoDepth = options & 16 != 0 ? 3 : 1000
        configuration.doubleSpacePeriod = options & 32 != 0
        configuration.sendKey = options & 64 != 0 ? .ctrlReturn : .return
        configuration.attachments.count = 3
        return ComposerEngine(configuration: configuration)
    }

    /// Returns the next step and its time, or `nil` at the end of the bytes.
    public mutating func next(for engine: ComposerEngine) -> (step: FuzzStep, time: Duration)? {
        guard let byte = source.next() else { return nil }
        if byte & 7 == 0 { clock += .milliseconds(source.number(below: 2000)) }
        let kind = Int(byte) % 59
        return (kind < 56 ? .event(event(kind, engine)) : call(kind, engine), clock)
    }

    private mutating func call(_ kind: Int, _ engine: ComposerEngine) -> FuzzStep {
        switch kind {
        case 56: .transform(range(engine), to: source.number(below: 4) == 0 ? nil : text())
        case 57: source.number(below: 2) == 0 ? .append(text()) : .ignoreDeletion
        default:
            source.number(below: 3) == 0
                ? .reconfigure(composer().configuration) : .ignore(source.number(below: 3) == 0)
        }
    }

    private mutating func event(_ kind: Int, _ engine: ComposerEngine) -> ComposerEvent {
        switch kind {
        case 0...9: .insert(fragment(), origin: .typed)
        case 10: .insert(text(), origin: .dictation)
        case 11: .edit(range(engine), replacement: text(), origin: origin())
        case 12...14: .deleteBackward(byWord: kind == 14)
        case 15...16: .deleteForward(byWord: kind == 16)
        case 17...20: .select(range(engine))
        case 21: .preedit(text())
        case 22: .commit(text())
        case 23...25: .key(chord())
        case 26...28: .undo
        case 29...30: .redo
        case 31: .cut
        case 32: .copy
        case 33: .paste([.text(text()), .media(attachment())])
        case 34:
            source.number(below: 3) == 0
                ? .moveText(range(engine), to: source.number(below: engine.document.length + 1))
                : .pasteInternalClipboard
        case 35...36: format(engine)
        case 37: source.number(below: 3) == 0 ? .clearStyles : .setStyle(style(), source.number(below: 2) == 0)
        case 38: .load(content(), selection: selection(engine))
        default: rareEvent(kind, engine)
        }
    }

    private mutating func rareEvent(_ kind: Int, _ engine: ComposerEngine) -> ComposerEvent {
        switch kind {
        case 39:
            .startEdit(
                id: "m\(source.number(below: 3))", content(), selection: selection(engine),
                mayBeEmpty: source.number(below: 2) == 0)
        case 40:
            switch source.number(below: 6) {
            case 0...2: .commitEdit
            case 3: .messageDeleted(id: "m\(source.number(below: 3))")
            default: .cancelEdit
            }
        case 41:
            switch source.number(below: 3) {
            case 0: .reply(nil)
            case 1: .reply(ReplyTarget(messageID: "r", sender: "Ann"))
            default: .replyPreview(id: "r", source.number(below: 2) == 0 ? .gone : .text(text()))
            }
        case 42: source.number(below: 2) == 0 ? .attach(attachment()) : .detach(source.number(below: 4) - 1)
        case 43: .send
        case 44: .sendAccepted("send-\(source.number(below: 8))")
        case 45: .sendFailed("send-\(source.number(below: 8))")
        case 46: window()
        case 47: spellingEvent(engine)
        case 48...55: completionEvent(kind, engine)
        default: source.number(below: 2) == 0 ? .clear : .restoreFailedMessage
        }
    }

    /// Guesses request numbers instead of reading the effects; sooner or later most match the last request.
    private mutating func spellingEvent(_ engine: ComposerEngine) -> ComposerEvent {
        switch source.number(below: 8) {
        case 0: return .checkSpelling(source.number(below: 4) != 0)
        case 1: return .ignoreWord(fragment())
        case 2:
            let words = engine.misspelled
            let word = words.isEmpty ? range(engine) : words[source.number(below: words.count)]
            return .replaceWord(word, with: text())
        default:
            requests += source.number(below: 2)
            let words = ["ae", "ab", "eb", "word", "éa", "שלום", "wordword"]
            return .spellingChecked(
                request: requests, misspelled: Set(words.filter { _ in source.number(below: 2) == 0 }))
        }
    }

    private mutating func completionEvent(_ kind: Int, _ engine: ComposerEngine) -> ComposerEvent {
        let query = engine.completion?.openQuery ?? "query-\(source.number(below: 8))"
        switch kind {
        case 48...50: return .completionResults(query: query, entities(), isFinal: source.number(below: 2) == 0)
        case 51:
            switch source.number(below: 4) {
            case 0: return .completionFailed(query: query)
            case 1: return .retryCompletion
            default: return .cancelCompletion
            }
        case 52: return .acceptCompletion(source.number(below: 3) == 0 ? nil : source.number(below: 4))
        case 53: return .acceptEntity(entity())
        case 54: return .complete(["@", "#", ":", "/", "+", "none"][source.number(below: 6)])
        default:
            let text = fragment()
            return source.number(below: 2) == 0
                ? .selectCompletion(source.number(below: 5) - 1)
                : .addMention(Mention(.custom("c"), text: text), over: range(engine))
        }
    }

    private mutating func entities() -> [CompletionEntity] { (0..<source.number(below: 4)).map { _ in entity() } }

    private mutating func entity() -> CompletionEntity {
        CompletionEntity(
            id: "u\(source.number(below: 4))", name: text(), short: source.number(below: 2) == 0 ? fragment() : nil,
            replacement: source.number(below: 8) == 0 ? fragment() : nil)
    }

    private mutating func window() -> ComposerEvent {
        switch source.number(below: 7) {
        case 0: .focus(source.number(below: 2) == 0)
        case 1: .hide(source.number(below: 4) == 0)
        case 2: .connected(source.number(below: 4) != 0)
        case 3: .expand(source.number(below: 2) == 0)
        case 4: .userTyping(name: text(), source.number(below: 2) == 0)
        case 5: .upload(0, source.number(below: 2) == 0 ? .ready : .failed)
        default:
            .layout(
                ComposerLayout(
                    windowHeight: Double(source.number(below: 2000)), lineHeight: Double(source.number(below: 60)),
                    lines: source.number(below: 2) == 0 ? nil : source.number(below: 300)))
        }
    }

    // MARK: Random values

    private static var fragments: [String] {
        [
            "a", "b", " ", " ", "e", "\n", "*", "**", "_", "~~", "`", "```", "> ", "- ", "1. ", ".", "@", "#", ":", "/",
            "é", "e\u{301}", "\u{301}", "\u{200D}", "👩", "💻", "👩‍💻", "🇩", "🇪", "🏽", "👍", "\r", "\r\n", "\u{2028}", "한",
            "ㄱ", "க்ஷ",
            "नि", "\u{202E}", "\u{0}", "\u{FEFF}", "\u{E0067}", "שלום", "word", "  ", "\t", "\u{378}", "[", "](x)", "－",
            "ß", "ﬁ",
        ]
    }

    private mutating func fragment() -> String { Self.fragments[source.number(below: Self.fragments.count)] }

    private mutating func text() -> String {
        (0..<source.number(below: 6)).reduce(into: "") { text, _ in text += fragment() }
    }

    private mutating func origin() -> EditOrigin {
        EditOrigin.allCases[source.number(below: EditOrigin.allCases.count)]
    }

    /// Returns a range that is usually in the text, sometimes beyond it.
    private mutating func range(_ engine: ComposerEngine) -> TextRange {
        let span = min(engine.document.length + 3, 65_536)
        let location = source.number(below: span) - 1
        let length = source.number(below: 3) == 0 ? 0 : source.number(below: span) - 1
        if source.number(below: 64) == 0 { return TextRange(location: location, length: .max) }
        return TextRange(location: location, length: length)
    }

    private mutating func content() -> WrittenText {
        let head = text()
        let name = fragment() + "Ann"
        let target: MentionTarget =
            switch source.number(below: 4) {
            case 0: .room("#r", via: ["s"])
            case 1: .everyone
            default: .member("u\(source.number(below: 3))")
            }
        let mention = Mention(target, text: name, short: source.number(below: 2) == 0 ? "Ann" : nil)
        let source = head + name + text()
        return self.source.number(below: 8) == 0
            ? WrittenText(source, syntax: .plain) : WrittenText(source, mentioning: [mention])
    }

    private mutating func selection(_ engine: ComposerEngine) -> TextRange? {
        source.number(below: 2) == 0 ? nil : range(engine)
    }

    private mutating func chord() -> KeyChord {
        let keys = [
            "Return", "Escape", "Up", "Down", "Tab", "Home", "Page_Down", "Z", "Y", "B", "I", "E", "X", "C", "A", "\\",
            "BackSpace",
        ]
        let key = keys[source.number(below: keys.count)]
        return KeyChord(key, KeyChord.Modifiers(rawValue: source.number(below: 4)))
    }

    private mutating func format(_ engine: ComposerEngine) -> ComposerEvent {
        let rules = engine.configuration.markdown
        return .format(rules.isEmpty ? "Bold" : rules[source.number(below: rules.count)].symbol)
    }

    private mutating func style() -> TextStyle {
        [TextStyle.bold, .italic, .named("x"), .scale(2), .scale(3)][source.number(below: 5)]
    }

    private mutating func attachment() -> Attachment {
        let types = ["image/png", "text/plain", "video/mp4"]
        return Attachment(type: types[source.number(below: 3)], name: "f", bytes: source.number(below: 1000))
    }
}
