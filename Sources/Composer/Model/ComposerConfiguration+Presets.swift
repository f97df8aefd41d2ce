extension ComposerConfiguration {
    /// Returns the options that make up a preset. No other code depends on preset names.
    public static func preset(_ preset: Preset) -> ComposerConfiguration {
        switch preset {
        case .parlance: ComposerConfiguration()
        case .slack: slack
        case .hakawai: hakawai
        case .hakawaiV2: hakawaiV2
        case .messageInputBar: messageInputBar
        case .messageComposerView: messageComposerView
        }
    }

    /// SlackTextViewController with the rules of its sample (SLK-66), without its defects.
    private static var slack: ComposerConfiguration {
        var options = ComposerConfiguration()
        options.completion = CompletionOptions(
            rules: [
                CompletionRule(prefix: "@"), CompletionRule(prefix: "#", minQuery: 1),
                CompletionRule(prefix: ":", minQuery: 2), CompletionRule(prefix: "+:", minQuery: 2),
                CompletionRule(prefix: "/", position: .start),
            ],
            boundary: .whitespace, queryExtent: .word, querySpaces: 0, afterAccept: .nothing, mentionTokens: false,
            mentionTrim: .none, resultsThrottle: 0, rows: 3)
        options.counterStyle = .split
        options.countUnit = .utf16
        options.markdown = MarkdownRule.slack
        options.doubleSpacePeriod = true
        options.continuesLists = false
        options.keepsUndoOnSend = false
        options.undoDepth = 10
        options.trimsSentText = false
        return options
    }

    /// The first generation of Hakawai: triggered by keystrokes, with a three-state Backspace.
    private static var hakawai: ComposerConfiguration {
        var options = ComposerConfiguration()
        options.completion = CompletionOptions(
            boundary: .punctuation, queryExtent: .typed, querySpaces: .max, implicitLength: 3, afterAccept: .nothing,
            keepPrefix: false, mentionBackspace: .highlightTrimDelete, mentionTrim: .firstWord,
            controlCharacters: ["@", "+", "＠"])
        options.countUnit = .utf16
        options.withoutComposing()
        options.doubleSpacePeriod = true
        return options
    }

    /// The second generation of Hakawai: derives the query from the caret.
    private static var hakawaiV2: ComposerConfiguration {
        var options = hakawai
        options.completion.boundary = .notAlphanumeric
        options.completion.queryExtent = .word
        options.completion.implicitLength = 0
        options.completion.afterAccept = .spaceAtParagraphEnd
        options.completion.mentionBackspace = .trimOrDelete
        return options
    }

    /// InputBarAccessoryView 7 with its AutocompleteManager.
    private static var messageInputBar: ComposerConfiguration {
        var options = ComposerConfiguration()
        options.completion = CompletionOptions(
            rules: [CompletionRule(prefix: "@"), CompletionRule(prefix: "#")], boundary: .whitespace, querySpaces: 0,
            afterAccept: .space, mentionBackspace: .byParts, mentionTrim: .none, resultsThrottle: 0, rows: 3)
        options.maxLines = .fractionOfWindow(3)
        options.insets = ComposerInsets(rowTop: 6, rowBottom: 6)
        options.withoutComposing()
        options.clearsOnSend = false
        options.trimsSentText = false
        return options
    }

    /// MessageComposerView: text and a button, at most 400 characters.
    private static var messageComposerView: ComposerConfiguration {
        var options = ComposerConfiguration()
        options.completion = CompletionOptions()
        options.maxLines = .pixels(100)
        options.insets = ComposerInsets(textTop: 0, textBottom: 0, rowTop: 10, rowBottom: 10)
        options.withoutComposing()
        options.characterLimit = 400
        options.limitPolicy = .hard
        options.countUnit = .utf16
        options.trimsSentText = false
        options.clearsBlankOnBlur = true
        return options
    }

    /// Turns off the Markdown features, which the libraries for on-screen keyboards didn't have.
    private mutating func withoutComposing() {
        markdown = []
        doubleSpaceCloses = false
        continuesLists = false
    }
}
