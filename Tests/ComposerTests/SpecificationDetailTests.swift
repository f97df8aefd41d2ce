import Composer
import Testing

/// Further checks of specification entries against their wording, in addition to the tables in the other suites.
struct SpecificationDetailTests {
    private func typed(_ text: String, _ preset: ComposerConfiguration.Preset) -> ComposerScript {
        var script = ComposerScript(.preset(preset))
        script.send(.focus(true))
        script.type(text)
        return script
    }

    /// SLK-19: the word must begin with the prefix; the options may allow brackets before it.
    @Test(arguments: [
        ("(@an", ComposerConfiguration.Preset.slack, false), ("me@x", .slack, false), ("(@an", .parlance, true),
        ("me@x", .parlance, false), ("“@an", .parlance, true), ("@@an", .parlance, false),
        ("me@example.com", .messageInputBar, false),
        ("x\n@an", .slack, true), ("see www.x.org/@an", .parlance, false), (":-D", .parlance, false),
        (":an", .slack, true),
        (":a", .slack, false), ("+:an", .slack, true), ("#", .slack, false), ("#a", .slack, true), ("/a", .slack, true),
        (" /a", .slack, false),
    ])
    func prefixesOpenByPresetRules(text: String, preset: ComposerConfiguration.Preset, opens: Bool) {
        #expect((typed(text, preset).completion != nil) == opens)
    }

    /// HKW-43: an explicit query may shrink to nothing, an implicit one to one character; one more deletion closes it.
    @Test func deletingShortensTheQueryUntilItCloses() {
        var explicit = typed("@jo", .hakawai)
        for query in ["j", ""] {
            explicit.send(.deleteBackward(byWord: false))
            #expect(explicit.completion?.query == query)
        }
        explicit.send(.deleteBackward(byWord: false))
        #expect(explicit.completion == nil && explicit.text.isEmpty)
        var implicit = typed("joe", .hakawai)
        #expect(implicit.completion?.kind == .implicit)
        for query in ["jo", "j"] {
            implicit.send(.deleteBackward(byWord: false))
            #expect(implicit.completion?.query == query)
        }
        implicit.send(.deleteBackward(byWord: false))
        #expect(implicit.completion == nil)
    }

    /// HKW-44, MIB-25: a line break always closes completion; spaces are allowed while there are matches (people: two).
    @Test func whiteSpaceContinuesOrClosesTheQuery() {
        var script = typed("@ann", .parlance)
        script.wait()
        script.respond(with: ["Ann Mary Lee"])
        for (text, isOpen) in [(" ", true), ("ma", true), (" ", true), ("le", true), (" ", false)] {
            script.type(text)
            script.wait()
            if script.completion != nil { script.respond(with: ["Ann Mary Lee"]) }
            #expect((script.completion != nil) == isOpen, "after \(script.text)")
        }
        var line = typed("@ann", .parlance)
        line.wait()
        line.respond(with: ["Ann"])
        line.press("Shift+Return")
        #expect(line.completion == nil && line.text == "@ann\n")
    }

    /// HKW-62: moving the caret within the query keeps completion open; leaving it closes completion.
    @Test func caretMovesKeepOrCloseCompletion() {
        var script = typed("hi @anna", .parlance)
        script.send(.select(.caret(6)))
        #expect(script.completion?.query == "an" && script.completion?.range == TextRange(location: 3, length: 5))
        script.send(.select(.caret(2)))
        #expect(script.completion == nil)
        var v1 = typed("hi @anna", .hakawai)
        v1.send(.select(.caret(6)))
        #expect(v1.completion == nil)
    }

    /// HKW-63: reopens on focus only if the text is unchanged; ⚠ it also reopened after a change of length.
    @Test func focusReopensCompletionIfTheTextIsUnchanged() {
        for (change, isOpen) in [(nil, true), (ComposerEvent.edit(.caret(0), replacement: "x ", origin: .code), false)]
        {
            var script = typed("@an", .parlance)
            script.send(.focus(false))
            #expect(script.completion == nil)
            if let change { script.send(change) }
            script.send(.focus(true))
            #expect((script.completion != nil) == isOpen)
        }
    }

    /// HKW-57: three presses for a name of two words; Ctrl+Backspace deletes it at once. HKW-68: each change is
    /// reported.
    @Test func backspaceShortensMentionsAndReportsChanges() {
        var script = ComposerScript("@|")
        script.send(.acceptEntity(CompletionEntity(id: "u", name: "Ann Lee", short: "Ann")))
        #expect(
            script.effects.contains(.observed(.mentionCreated))
                && script.effects.contains(.observed(.completionAccepted)))
        script.send(.deleteBackward(byWord: false))
        #expect(script.text == "@Ann Lee")
        for (text, reported) in [
            ("@Ann Lee", ComposerObservation.mentionSelected), ("@Ann", .mentionTrimmed), ("", .mentionDeleted),
        ] {
            script.send(.deleteBackward(byWord: false))
            #expect(script.text == text && script.effects.contains(.observed(reported)))
        }
        script.send(.undo)
        script.send(.undo)
        #expect(script.text == "@Ann Lee" && script.engine.document.mentions.count == 1)
        script.send(.deleteBackward(byWord: true))
        #expect(script.text.isEmpty)
    }

    /// HKW-59 ⚠: a short form that is not a prefix of the name was treated as a prefix length.
    @Test func shortNameNeedNotBeAPrefix() {
        var script = ComposerScript("@|", .preset(.hakawaiV2))
        script.send(.acceptEntity(CompletionEntity(id: "u", name: "Robert Smith", short: "Bob")))
        for _ in 0..<2 { script.send(.deleteBackward(byWord: false)) }
        #expect(script.text == "Robert", "hakawai-v2 trims to the first word, behind the space")
        var own = ComposerScript(
            "@|",
            .completing {
                $0.mentionBackspace = .trimOrDelete
                $0.afterAccept = .nothing
            })
        own.send(.acceptEntity(CompletionEntity(id: "u", name: "Robert Smith", short: "Bob")))
        own.send(.deleteBackward(byWord: false))
        #expect(own.text == "@Bob" && own.engine.document.mentions.first?.mention?.text == "@Bob")
    }

    /// MIB-31 ⚠: deleting a selection that begins where a mention does left the rest of it marked as a mention.
    @Test func deletingTheStartOfAMentionRemovesIt() {
        var script = ComposerScript("@|", .preset(.messageInputBar))
        script.send(.acceptEntity(CompletionEntity(id: "u", name: "Ann Lee")))
        script.send(.select(TextRange(location: 0, length: 3)))
        script.send(.deleteBackward(byWord: false))
        #expect(script.engine.document.mentions.isEmpty)
    }

    /// MIB-29 ⚠, HKW-36 ⚠: adjacent mentions of one entity stay separate.
    @Test func adjacentMentionsAreSentSeparately() {
        var script = ComposerScript("@|", .completing { $0.afterAccept = .nothing })
        for _ in 0..<2 { script.send(.acceptEntity(CompletionEntity(id: "u", name: "Ann"))) }
        script.send(.send)
        #expect(
            script.sent.first?.mentions.map(\.range) == [
                TextRange(location: 0, length: 4), TextRange(location: 4, length: 3),
            ])
    }

    /// MIB-28 ⚠, HKW-54 ⚠: no double space, no remainder of the word, and a mention after the caret is left alone.
    @Test(arguments: [
        ("@an| there", "@Ann there"), ("@a|n there", "@Ann there"), ("@a|n, you", "@Ann , you"), ("@an|", "@Ann "),
    ])
    func acceptingReplacesTheWholeToken(marked: String, text: String) {
        var script = ComposerScript(marked)
        script.send(.complete("@"))
        script.wait()
        script.respond(with: ["Ann"])
        script.send(.acceptCompletion(nil))
        #expect(script.text == text)
    }

    @Test func acceptingKeepsAnAdjacentMention() {
        var script = ComposerScript()
        let mention = Mention(.custom("b"), text: "Bob")
        script.send(.load(WrittenText("@anBob", mentioning: [mention]), selection: .caret(3)))
        script.send(.complete("@"))
        script.wait()
        script.respond(with: ["Ann"])
        script.send(.acceptCompletion(nil))
        #expect(script.text == "@Ann Bob" && script.engine.document.mentions.count == 2)
    }

    /// MIB-32: the host may veto the text that accepting a row inserts.
    @Test func interceptorCanDenyAnAcceptance() {
        struct Veto: ComposerInterceptor {
            let name = "veto"
            func intercept(_ change: TextEdit, origin: EditOrigin, in document: ComposerDocument) -> Interception {
                change.replacement.contains("Ann") ? .deny : .allow
            }
        }
        var script = ComposerScript()
        script.change { $0.add(interceptor: Veto()) }
        script.type("@a")
        script.wait()
        script.respond(with: ["Ann"])
        script.send(.acceptCompletion(0))
        #expect(script.text == "@a" && script.engine.document.mentions.isEmpty)
    }

    /// A gate can hold back a message, which stays in the composer; gates do not apply to edits.
    @Test func sendGateCanHoldBackAMessage() {
        struct Gate: ComposerSendGate {
            func rejectionReason(of message: ComposedMessage) -> String? {
                message.text.source == "no" ? "because" : nil
            }
        }
        var script = ComposerScript()
        script.change { $0.setSendGate(Gate()) }
        script.type("no")
        script.press("Return")
        #expect(
            script.text == "no" && script.sent.isEmpty && script.effects.contains(.rejected(.rejectedByHost("because")))
        )
        #expect(script.effects.contains(.keyHandled) && script.state.failedCount == 0)
        script.type("w")
        script.press("Return")
        #expect(script.sent.map(\.text.source) == ["now"])
    }

    @Test func acceptanceIsReportedToTheSource() {
        var script = typed(":ta", .parlance)
        script.wait()
        script.send(
            .completionResults(
                query: script.completion?.openQuery ?? "", [CompletionEntity(id: "t", name: "tada", replacement: "🎉")],
                isFinal: true))
        script.press("Tab")
        let reported = script.effects.contains { effect in
            if case .completion(.accepted(let entity, prefix: ":")) = effect { entity.id == "t" } else { false }
        }
        #expect(reported && script.text == "🎉 ")
    }
}
