import Composer
import Fuzzing
import Testing
import ToolSupport

/// PAR-1: which words are checked and when, with a dictionary without words that begin with `x`.
struct SpellingTests {
    /// A composer that checks its spelling, and a checker that responds to its requests.
    struct Bench {
        var script = ComposerScript()
        /// All words requested so far.
        private(set) var asked: [String] = []
        /// Whether the checker responds to requests.
        var answers = true

        init(_ configuration: ComposerConfiguration = ComposerConfiguration(), isOn: Bool = true) {
            script = ComposerScript(configuration)
            if isOn { script.send(.checkSpelling(true)) }
        }

        var wrong: [String] { script.engine.misspelled.map { script.engine.document.text(in: $0) } }

        mutating func send(_ event: ComposerEvent) {
            script.send(event)
            answer()
        }

        mutating func type(_ text: String) {
            for character in text {
                send(.insert(String(character), origin: .typed))
                pass(.milliseconds(1))
            }
        }

        /// Advances the clock, and responds to the requests made meanwhile.
        mutating func pass(_ time: Duration = .seconds(2)) {
            let end = script.now + time
            while let deadline = script.engine.nextDeadline, deadline <= end {
                script.now = max(script.now, deadline)
                // Any event makes the engine read the clock.
                send(.measured(nil))
            }
            script.now = end
        }

        mutating func answer() {
            for case .checkSpelling(let request) in script.effects {
                asked += request.words
                guard answers else { continue }
                send(
                    .spellingChecked(
                        request: request.id,
                        misspelled: Set(request.words.filter { "xX".unicodeScalars.contains($0.unicodeScalars.first!) })
                    ))
            }
        }

        /// Loads a text, as when it was not typed.
        mutating func write(_ text: String) {
            send(.load(WrittenText(text)))
            pass()
        }
    }

    static let words: [(String, [String])] = [
        ("right xrong right", ["xrong"]), ("Xrong, (xrong) \"xrong\"!", ["Xrong", "xrong", "xrong"]),
        ("x'y x’y x·y 'xa'", ["x'y", "x’y", "x·y", "xa"]), ("xa-xb xa/xb", ["xa", "xb", "xa", "xb"]),
        ("xe\u{301}a xé", ["xe\u{301}a", "xé"]), ("x\u{200C}a", ["x\u{200C}a"]), ("xكتاب xكِتابٌ", ["xكتاب", "xكِتابٌ"]),
        // Not prose.
        ("x1 xa2 XAB x", []), ("Xa xA", ["Xa", "xA"]), ("https://xa.org/xb www.xa.org xa.org xa.org/xb xa.org.", []),
        ("(xa@xb.org) @xa #xa :xa: a:xa:b :xa", []), ("xa: xb", ["xa", "xb"]), (":xa_xb:", []), ("xa_xb _xa_", ["xa"]),
        ("/xa xb", ["xb"]), ("/home/xa ~/xa C:\\xa", []), ("x漢字 xひら xไทย", []),
        ("e.g. xa. xb", ["xa", "xb"]),
        // Code and links.
        ("xa `xb` xc", ["xa", "xc"]), ("[xa](xb) xc", ["xc"]), ("`xa", ["xa"]), ("\\`xa\\`", []),
        ("**xa** _xb_", ["xa", "xb"]),
        ("xa\n```\nxb\n```\nxc", ["xa", "xc"]), ("```xa\nxb", []), ("> xa\n- xb\n1. xc", ["xa", "xb", "xc"]),
        ("xa\r\nxb\u{2028}xc", ["xa", "xb", "xc"]), ("", []), ("\n\nxa", ["xa"]),
    ]

    @Test(arguments: words)
    func wordsOfProseAreChecked(_ text: String, _ wrong: [String]) {
        var bench = Bench()
        bench.write(text)
        #expect(bench.wrong == wrong)
    }

    @Test func plainTextHasNoCode() {
        var bench = Bench()
        bench.send(.load(WrittenText("xa `xb`", syntax: .plain)))
        bench.pass()
        #expect(bench.wrong == ["xa", "xb"])
    }

    @Test func mentionsAndCodeStylesAreNoProse() {
        var bench = Bench()
        let mention = Mention(.custom("1"), text: "Xanthippe")
        bench.send(.load(WrittenText("xa Xanthippe xb xc", mentioning: [mention])))
        bench.pass()
        #expect(bench.wrong == ["xa", "xb", "xc"])
        bench.send(.select(TextRange(location: 13, length: 2)))
        bench.send(.setStyle(.monospace, true))
        bench.pass()
        #expect(bench.wrong == ["xa", "xc"])
        bench.send(.clearStyles)
        bench.pass()
        #expect(bench.wrong == ["xa", "xb", "xc"])
        bench.send(.addMention(Mention(.custom("2"), text: "xa"), over: TextRange(location: 0, length: 2)))
        bench.pass()
        #expect(bench.wrong == ["xb", "xc"])
        bench.send(.undo)
        bench.pass()
        #expect(bench.wrong == ["xa", "xb", "xc"])
    }

    // MARK: While typing

    @Test func wordBeingTypedIsNotChecked() {
        var bench = Bench()
        bench.type("right xron")
        bench.pass()
        #expect(bench.wrong.isEmpty && bench.asked == ["right"])
        bench.type("g")
        bench.pass()
        #expect(bench.wrong.isEmpty)
        bench.type(" ")
        bench.pass(CheckedTextDelay.value)
        #expect(bench.wrong == ["xrong"] && bench.asked == ["right", "xrong"])
        bench.send(.deleteBackward(byWord: false))
        bench.pass()
        #expect(bench.wrong.isEmpty, "it may go on")
        bench.send(.select(.caret(2)))
        bench.pass()
        #expect(bench.wrong == ["xrong"], "the caret has left it")
        #expect(bench.asked.count == 2, "known words are not asked about again")
    }

    @Test func wordIsCheckedWhileTypingGoesOn() {
        var bench = Bench()
        bench.type("xrong ")
        for _ in 0..<4 {
            bench.type("a")
            bench.pass(.milliseconds(90))
        }
        #expect(bench.wrong == ["xrong"])
    }

    @Test func apostropheDoesNotEndAWord() {
        var bench = Bench()
        bench.type("xouldn'")
        bench.pass()
        #expect(bench.asked.isEmpty)
        bench.type("t ")
        bench.pass()
        #expect(bench.asked == ["xouldn't"])
    }

    @Test func leavingTheTextFinishesTheWord() {
        var bench = Bench()
        bench.send(.focus(true))
        bench.type("xrong")
        bench.send(.focus(false))
        bench.pass()
        #expect(bench.wrong == ["xrong"])
    }

    @Test func wordAtThePreeditIsNotChecked() {
        var bench = Bench()
        bench.send(.preedit("xro"))
        bench.write("xa")
        bench.send(.preedit("xro"))
        bench.send(.edit(.caret(0), replacement: "", origin: .typed))
        bench.pass()
        #expect(bench.wrong == ["xa"], "found before")
        bench.send(.commit("xb "))
        bench.pass()
        #expect(bench.wrong == ["xaxb"])
    }

    // MARK: Edits

    @Test func undoBringsBackTheWordAndItsMark() {
        var bench = Bench()
        bench.write("one xrong two")
        bench.send(.replaceWord(TextRange(location: 4, length: 5), with: "wrong"))
        bench.pass()
        #expect(bench.script.text == "one wrong two" && bench.wrong.isEmpty)
        bench.send(.undo)
        bench.pass()
        #expect(bench.script.text == "one xrong two" && bench.wrong == ["xrong"])
        bench.send(.redo)
        bench.pass()
        #expect(bench.script.text == "one wrong two" && bench.wrong.isEmpty)
    }

    @Test func replacingKeepsTheCaretAndMarks() {
        var bench = Bench()
        let mention = Mention(.custom("1"), text: "Ann")
        bench.send(.load(WrittenText("xrong for Ann", mentioning: [mention])))
        bench.pass()
        bench.send(.replaceWord(TextRange(location: 0, length: 5), with: "right words"))
        #expect(bench.script.text == "right words for Ann")
        #expect(bench.script.state.selection == .caret(19))
        #expect(bench.script.engine.document.mentions.map(\.range) == [TextRange(location: 16, length: 3)])
    }

    @Test func onlyMisspelledWordsAreReplaced() {
        var bench = Bench()
        bench.write("one xrong")
        for range in [TextRange(location: 0, length: 3), TextRange(location: 4, length: 4), .caret(9)] {
            bench.send(.replaceWord(range, with: "other"))
        }
        #expect(bench.script.text == "one xrong")
    }

    @Test func loadedTextWaitsForItsFirstCheck() {
        var bench = Bench()
        bench.send(.load(WrittenText("one xrong")))
        bench.pass(.milliseconds(900))
        #expect(bench.asked.isEmpty, "the window appears before dictionaries are loaded")
        bench.pass(.milliseconds(200))
        #expect(bench.wrong == ["xrong"])
        bench.send(.load(WrittenText("one xother")))
        bench.pass(CheckedTextDelay.value)
        #expect(bench.wrong == ["xother"], "they are loaded")
    }

    @Test func pasteIsChecked() {
        var bench = Bench()
        bench.type("one ")
        bench.send(.paste([.text("xtwo xthree")]))
        bench.pass()
        #expect(bench.wrong == ["xtwo", "xthree"], "even the word at the caret")
    }

    @Test func codeFarAwayChangesWithItsDelimiter() {
        var bench = Bench()
        bench.write("a xa` b\n```\nxb\n\nxc")
        #expect(bench.wrong == ["xa"])
        bench.send(.edit(.caret(2), replacement: "`", origin: .code))
        bench.pass()
        #expect(bench.wrong.isEmpty)
        bench.send(.edit(TextRange(location: 9, length: 1), replacement: "", origin: .code))
        bench.pass()
        #expect(bench.wrong == ["xb", "xc"], "the fence is none any more")
        bench.send(.undo)
        bench.pass()
        #expect(bench.wrong.isEmpty)
        bench.send(.edit(.caret(15), replacement: "\n```\n", origin: .code))
        bench.pass()
        #expect(bench.wrong == ["xc"], "closed before it: \(bench.script.text)")
    }

    @Test func wordBeyondAMarkStaysMarkedWithoutBeingAskedFor() {
        var bench = Bench()
        bench.write("xa xb xc")
        bench.send(.edit(.caret(5), replacement: ",", origin: .code))
        #expect(bench.wrong == ["xa", "xb", "xc"], "nothing flickers")
        bench.send(.edit(.caret(5), replacement: "y", origin: .code))
        #expect(bench.wrong == ["xa", "xc"])
        bench.pass()
        #expect(bench.wrong == ["xa", "xby", "xc"])
        #expect(bench.asked == ["xa", "xb", "xc", "xby"])
    }

    @Test func longTextIsCheckedInSlices() {
        var bench = Bench()
        let text = String(repeating: "right words and xrong ones.\n", count: 600)
        bench.write(text)
        #expect(bench.wrong.count == 600)
        #expect(bench.asked == ["right", "words", "and", "xrong", "ones"])
        bench.send(.edit(.caret(0), replacement: "```\n", origin: .code))
        bench.pass()
        #expect(bench.wrong.isEmpty)
        bench.send(.undo)
        bench.pass()
        #expect(bench.wrong.count == 600)
    }

    @Test func longLinesAreChecked() {
        var bench = Bench()
        bench.write(String(repeating: "xa right ", count: 2500) + String(repeating: "x", count: 9000))
        #expect(bench.wrong.count == 2500)
    }

    // MARK: Dictionaries

    @Test func ignoredWordStaysIgnored() {
        var bench = Bench()
        bench.write("xa xb xa")
        bench.send(.ignoreWord("xa"))
        #expect(bench.wrong == ["xb"])
        bench.type(" xa xc ")
        bench.send(.checkSpelling(true))
        bench.pass()
        #expect(bench.wrong == ["xb", "xc"])
        bench.send(.clear)
        bench.type("xa ")
        bench.pass()
        #expect(bench.wrong.isEmpty)
    }

    @Test func staleAnswerIsIgnored() {
        var bench = Bench()
        bench.answers = false
        bench.write("xa")
        bench.send(.checkSpelling(true))
        bench.pass()
        bench.send(.spellingChecked(request: 1, misspelled: ["xa"]))
        #expect(bench.wrong.isEmpty)
        bench.send(.spellingChecked(request: 2, misspelled: ["xa"]))
        #expect(bench.wrong == ["xa"])
    }

    @Test func answerAfterEditsIsUsed() {
        var bench = Bench()
        bench.answers = false
        bench.write("xa xb")
        bench.send(.edit(TextRange(location: 0, length: 1), replacement: "new y", origin: .code))
        bench.answers = true
        bench.send(.spellingChecked(request: 1, misspelled: ["xa", "xb"]))
        bench.pass()
        #expect(bench.script.text == "new ya xb" && bench.wrong == ["xb"])
    }

    /// PAR-4: while turned off, spell checking has no cost.
    @Test func nothingIsDoneWhileOff() {
        var bench = Bench(isOn: false)
        bench.type("xa xb ")
        #expect(bench.asked.isEmpty && bench.wrong.isEmpty)
        bench.send(.checkSpelling(true))
        bench.pass()
        #expect(bench.wrong == ["xa", "xb"])
        bench.send(.checkSpelling(false))
        #expect(bench.wrong.isEmpty)
        bench.type("xc ")
        bench.pass()
        #expect(bench.wrong.isEmpty && bench.asked == ["xa", "xb"])
    }

    @Test func restoredDraftIsChecked() {
        var bench = Bench()
        bench.write("xa")
        let draft = bench.script.engine.makeDraft()
        var other = Bench()
        other.script.change { _ = $0.restore(draft) }
        other.pass()
        #expect(other.wrong == ["xa"])
    }

    @Test func editedMessageIsChecked() {
        var bench = Bench()
        bench.write("xa")
        bench.send(.startEdit(id: "m", WrittenText("right xb")))
        bench.pass()
        #expect(bench.wrong == ["xb"])
        bench.send(.cancelEdit)
        bench.pass()
        #expect(bench.wrong == ["xa"])
    }

    // MARK: Properties

    private static let fragments = [
        "x", "a", "b", " ", " ", "\n", "`", "```", "[", "](x)", "'", ".", "@", ":", "/", "é", "\u{301}", "🙂", "xa ",
        "xכ",
        "1", "\r\n", "_", "-",
    ]

    /// After any edits, the same words are marked as by checking the whole text.
    @Test(arguments: 0..<6)
    func incrementalCheckingEqualsCheckingTheWhole(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var bench = Bench()
        for step in 0..<250 {
            let length = bench.script.engine.document.length
            let start = Int.random(in: 0...length, using: &random)
            let end = Int.random(in: 0..<3, using: &random) == 0 ? min(length, start + 5) : start
            switch Int.random(in: 0..<10, using: &random) {
            case 0: bench.send(.undo)
            case 1: bench.send(.redo)
            case 2: bench.send(.select(.caret(start)))
            case 3: bench.type(Self.fragments.randomElement(using: &random)!)
            default:
                bench.send(
                    .edit(
                        TextRange(start: start, end: end), replacement: Self.fragments.randomElement(using: &random)!,
                        origin: .paste))
            }
            if length > 120 { bench.send(.clear) }
            if Int.random(in: 0..<3, using: &random) == 0 { bench.pass(.milliseconds(200)) }
            guard step % 10 == 9 else { continue }
            bench.send(.select(TextRange(location: 0, length: bench.script.engine.document.length)))
            bench.pass()
            var whole = Bench()
            whole.send(.load(bench.script.engine.document.written))
            whole.send(.select(TextRange(location: 0, length: bench.script.engine.document.length)))
            whole.pass()
            #expect(
                bench.script.engine.misspelled == whole.script.engine.misspelled,
                "step \(step): \(bench.script.text.debugDescription)")
        }
    }

    private enum CheckedTextDelay {
        /// Longer than the delay after an edit, shorter than twice that.
        static let value = Duration.milliseconds(400)
    }
}
