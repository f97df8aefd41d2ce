import Composer
import Testing

/// HKW-42 to HKW-49: the lifecycle of a completion.
struct CompletionQueryTests {
    enum Step: Sendable {
        case type(String), backspace, respond(with: [String]), fail, select(Int), event(ComposerEvent), wait
    }

    struct Row: Sendable, CustomStringConvertible {
        let situation: String
        var preset = ComposerConfiguration.Preset.parlance
        var continuesAfterEmpty = false
        let steps: [Step]
        /// `nil` if completion is closed.
        let phase: CompletionState.Phase?
        var query = ""
        var isVisible = false
        var description: String { situation }
    }

    static let rows: [Row] = [
        Row(situation: "quiescent, started", steps: [.type("@")], phase: .awaiting),
        Row(situation: "creating, unit typed", steps: [.type("@j"), .type("o")], phase: .awaiting, query: "jo"),
        Row(situation: "awaiting, white space", steps: [.type("@jo"), .type(" ")], phase: nil),
        Row(
            situation: "no results, white space", continuesAfterEmpty: true,
            steps: [.type("@jo"), .wait, .respond(with: []), .type(" ")], phase: nil),
        Row(
            situation: "nothing written, white space", steps: [.type("@"), .respond(with: ["Jo"]), .type(" ")],
            phase: nil),
        Row(
            situation: "results, white space", steps: [.type("@jo"), .wait, .respond(with: ["Jo"]), .type(" ")],
            phase: .results, query: "jo ", isVisible: true),
        Row(
            situation: "results, more white space than a query may hold",
            steps: [.type("@jo"), .wait, .respond(with: ["Jo"]), .type(" a b ")], phase: nil),
        Row(situation: "newline", steps: [.type("@jo"), .wait, .respond(with: ["Jo"]), .type("\n")], phase: nil),
        Row(
            situation: "valid string inserted", steps: [.type("@j"), .event(.insert("oe", origin: .dictation))],
            phase: .awaiting, query: "joe"),
        Row(
            situation: "string pasted", steps: [.type("@j"), .event(.insert("oe", origin: .paste))], phase: .awaiting,
            query: "joe"),
        Row(situation: "deleted from the tail", steps: [.type("@jo"), .backspace], phase: .awaiting, query: "j"),
        Row(situation: "deleted to nothing", steps: [.type("@j"), .backspace], phase: .awaiting),
        Row(situation: "deleted beyond", steps: [.type("@"), .backspace], phase: nil),
        Row(
            situation: "implicit, deleted to one", preset: .hakawai,
            steps: [.type("joe"), .backspace, .backspace], phase: .awaiting, query: "j"),
        Row(
            situation: "implicit with one left, deleted", preset: .hakawai,
            steps: [.type("joe"), .backspace, .backspace, .backspace], phase: nil),
        Row(
            situation: "prefix deleted while text follows",
            steps: [
                .type("@jo"), .event(.edit(TextRange(location: 0, length: 1), replacement: "", origin: .typed)),
            ], phase: nil),
        Row(situation: "caret moved within", steps: [.type("@jo"), .select(2)], phase: .awaiting, query: "j"),
        Row(situation: "caret moved within, V1", preset: .hakawai, steps: [.type("@jo"), .select(2)], phase: nil),
        Row(situation: "caret moved away", steps: [.type("a @jo"), .select(1)], phase: nil),
        Row(
            situation: "selection", steps: [.type("@jo"), .event(.select(TextRange(location: 1, length: 1)))],
            phase: nil),
        Row(situation: "cancelled", steps: [.type("@jo"), .event(.cancelCompletion)], phase: nil),
        Row(
            situation: "results", steps: [.type("@j"), .wait, .respond(with: ["Jo"])], phase: .results, query: "j",
            isVisible: true),
        Row(situation: "awaiting, empty results", steps: [.type("@x"), .wait, .respond(with: [])], phase: nil),
        Row(
            situation: "awaiting, empty results, goes on", continuesAfterEmpty: true,
            steps: [.type("@x"), .wait, .respond(with: [])], phase: .noResults, query: "x"),
        Row(
            situation: "results, then empty ones",
            steps: [.type("@j"), .wait, .respond(with: ["Jo"]), .type("x"), .wait, .respond(with: [])],
            phase: .noResults,
            query: "jx"),
        Row(
            situation: "no results, then empty ones", continuesAfterEmpty: true,
            steps: [.type("@x"), .wait, .respond(with: []), .type("y"), .wait, .respond(with: [])], phase: .noResults,
            query: "xy"),
        Row(
            situation: "empty results after white space",
            steps: [.type("@j"), .wait, .respond(with: ["Jo"]), .type(" "), .wait, .respond(with: [])], phase: nil),
        Row(
            situation: "no results, then some",
            steps: [
                .type("@j"), .wait, .respond(with: ["Jo"]), .type("x"), .wait, .respond(with: []), .backspace, .wait,
                .respond(with: ["Jo"]),
            ], phase: .results, query: "j", isVisible: true),
        Row(
            situation: "row chosen", steps: [.type("@j"), .wait, .respond(with: ["Jo"]), .event(.acceptCompletion(0))],
            phase: nil),
        Row(situation: "failed", steps: [.type("@j"), .wait, .fail], phase: .noResults, query: "j", isVisible: true),
        Row(situation: "implicit, failed", preset: .hakawai, steps: [.type("joe"), .fail], phase: nil),
        Row(
            situation: "text set by code", steps: [.type("@j"), .event(.load(WrittenText("@jo")))], phase: nil
        ),
        Row(situation: "focus lost", steps: [.type("@j"), .event(.focus(true)), .event(.focus(false))], phase: nil),
        Row(
            situation: "focus lost and found",
            steps: [.event(.focus(true)), .type("@j"), .event(.focus(false)), .event(.focus(true))], phase: .awaiting,
            query: "j"),
        Row(
            situation: "focus found after a change",
            steps: [
                .event(.focus(true)), .type("@j"), .event(.focus(false)),
                .event(.insert("x", origin: .code)), .event(.focus(true)),
            ], phase: nil),
        Row(situation: "hidden", steps: [.type("@j"), .event(.hide(true))], phase: nil),
        Row(situation: "sent", steps: [.type("@j"), .event(.send)], phase: nil),
        Row(situation: "undone", steps: [.type("@j"), .event(.undo)], phase: nil),
        Row(
            situation: "exhausted, longer", steps: [.type("@x"), .wait, .respond(with: []), .type("y")], phase: nil),
        Row(
            situation: "exhausted, shorter", steps: [.type("@x"), .wait, .respond(with: []), .backspace],
            phase: .awaiting),
    ]

    @Test(arguments: rows)
    func queriesOpenUpdateAndClose(row: Row) {
        var configuration = ComposerConfiguration.preset(row.preset)
        configuration.completion.continueAfterEmpty = row.continuesAfterEmpty
        var script = ComposerScript(configuration)
        for step in row.steps {
            switch step {
            case .type(let text): script.type(text)
            case .backspace: script.send(.deleteBackward(byWord: false))
            case .respond(with: let names): script.respond(with: names)
            case .fail: script.send(.completionFailed(query: "query-\(row.preset == .hakawai ? 1 : 2)"))
            case .select(let offset): script.send(.select(.caret(offset)))
            case .event(let event): script.send(event)
            case .wait: script.wait()
            }
        }
        #expect(script.completion?.phase == row.phase)
        #expect(script.completion?.query ?? "" == row.query)
        #expect(script.completion?.isVisible ?? false == row.isVisible)
    }

    // MARK: Queries

    /// HKW-47: typing at 0, 30, and 60 ms issues two queries, one at once and one at the end of the interval.
    @Test func queriesAreThrottled() {
        var script = ComposerScript()
        script.type("@")
        #expect(script.queries.map(\.text) == [""])
        for (time, letter) in [(30, "j"), (60, "o")] {
            script.now = .milliseconds(time)
            script.type(letter)
            #expect(script.queries.isEmpty)
        }
        #expect(script.engine.nextDeadline == .milliseconds(100))
        script.wait(.milliseconds(39))
        #expect(script.queries.isEmpty)
        script.wait(.milliseconds(1))
        #expect(script.queries.map(\.text) == ["jo"] && script.cancelled == ["query-1"])
    }

    @Test func revertedTypingIsNotQueried() {
        var script = ComposerScript()
        script.type("@j")
        script.send(.deleteBackward(byWord: false))
        script.wait(.seconds(1))
        #expect(script.queries.isEmpty && script.completion?.query == "")
    }

    /// HKW-46, MIB-33: responses to older queries, and batches after the final one, are dropped.
    @Test func staleResultsAreDropped() {
        var script = ComposerScript()
        script.type("@")
        script.wait()
        script.type("j")
        script.respond(with: ["Stale"], to: "query-1")
        #expect(script.completion?.items == [] && script.completion?.phase == .awaiting)
        script.respond(with: ["Jo"], to: "query-2")
        script.respond(with: ["Late"], to: "query-2")
        script.respond(with: ["Unknown"], to: "query-9")
        #expect(script.completion?.items.map(\.name) == ["Jo"])
    }

    /// HKW-46, HKW-48: batches are appended in order without duplicates, and the selection stays on its entity.
    @Test func batchesAreAppended() {
        var script = ComposerScript()
        script.type("@")
        script.respond(with: ["B", "A"], isFinal: false)
        #expect(script.completion?.selected == 0)
        script.press("Down")
        script.respond(with: ["A", "C", "B"], isFinal: false)
        script.respond(with: [], isFinal: true)
        #expect(script.completion?.items.map(\.name) == ["B", "A", "C"] && script.completion?.selected == 1)
        script.wait()
        script.type("a")
        #expect(script.completion?.items.count == 3, "the old rows stay until the answer comes (SLK-22)")
        script.respond(with: ["C", "A"])
        #expect(script.completion?.items.map(\.name) == ["C", "A"] && script.completion?.selected == 1)
    }

    /// SLK-22, HKW-46: an empty first batch replaces the rows of the query before, and the query goes on.
    @Test func emptyFirstBatchReplacesTheRows() {
        var script = ComposerScript()
        script.type("@")
        script.respond(with: ["Ann"], isFinal: false)
        script.wait()
        script.type("z")
        script.wait()
        #expect(script.completion?.items.count == 1)
        script.respond(with: [], isFinal: false)
        #expect(script.completion?.items == [] && script.completion?.selected == nil)
        #expect(script.completion?.isLoading == true && script.completion?.isVisible == true)
        script.respond(with: ["Zoe"])
        #expect(script.completion?.items.map(\.name) == ["Zoe"] && script.completion?.isLoading == false)
    }

    @Test func rowsWithoutIdentifierOrNameAreSkipped() {
        var script = ComposerScript()
        script.type("@")
        let entities = [
            CompletionEntity(id: "", name: "A"), CompletionEntity(id: "b", name: ""),
            CompletionEntity(id: "c", name: "C"),
        ]
        script.send(.completionResults(query: "query-1", entities, isFinal: true))
        #expect(script.completion?.items.map(\.id) == ["c"])
    }

    /// HKW-49: a loading row appears once, after 150 ms.
    @Test func loadingRowAppearsAfterADelay() {
        var script = ComposerScript()
        script.type("@")
        script.wait(.milliseconds(149))
        #expect(script.completion?.isLoading == false && script.completion?.isVisible == false)
        script.wait(.milliseconds(1))
        #expect(script.completion?.isLoading == true && script.completion?.isVisible == true)
        #expect(script.effects.contains(.observed(.completionShown)))
        script.respond(with: ["A"], isFinal: false)
        #expect(script.completion?.isLoading == true)
        script.respond(with: ["B"])
        #expect(script.completion?.isLoading == false && script.completion?.items.count == 2)
        #expect(script.engine.nextDeadline.map { $0 > script.now + .milliseconds(200) } ?? true)
    }

    /// A failure is shown in the list, along with the rows already received.
    @Test func failuresAreShown() {
        var script = ComposerScript()
        script.type("@")
        script.respond(with: ["A"], isFinal: false)
        script.send(.completionFailed(query: "query-1"))
        #expect(script.completion?.hasFailed == true && script.completion?.items.count == 1)
        script.wait()
        script.type("a")
        #expect(script.completion?.hasFailed == false, "the next query tries again")
    }

    /// A failure shows its reason, and the query can be retried; the new response replaces the earlier rows.
    @Test func failedQueryCanBeRetried() {
        var script = ComposerScript()
        script.type("@")
        script.send(.retryCompletion)
        #expect(script.queries.isEmpty, "nothing has failed")
        script.respond(with: ["A"], isFinal: false)
        script.send(.completionFailed(query: "query-1", reason: "offline"))
        #expect(script.completion?.failureReason == "offline" && script.completion?.openQuery == nil)
        script.now += .milliseconds(100)
        script.send(.retryCompletion)
        #expect(script.queries.map(\.text) == [""] && script.completion?.openQuery == "query-2")
        #expect(script.completion?.hasFailed == false && script.completion?.failureReason == nil)
        #expect(script.completion?.items.count == 1, "what had come stays until there is an answer")
        script.respond(with: ["B", "C"])
        #expect(script.completion?.items.map(\.name) == ["B", "C"])
    }

    // MARK: Implicit mentions (HKW-38, HKW-39, HKW-41)

    /// Steps, and the resulting implicit query.
    static let implicit: [(String, [Step], String?)] = [
        ("counts units", [.type("jo")], nil), ("starts at the threshold", [.type("joe")], "joe"),
        ("white space sets back", [.type("jo e")], nil), ("control character after a letter", [.type("jo@")], nil),
        ("punctuation starts another word", [.type("ab-cde")], "cde"),
        ("string inserted", [.event(.insert("joe", origin: .dictation))], "joe"),
        ("string with spaces inserted", [.event(.insert("to joe", origin: .dictation))], "joe"),
        ("pasted", [.event(.insert("joe", origin: .paste))], nil),
        ("deleted and typed", [.type("jo"), .backspace, .type("oe")], "joe"),
        ("caret put behind a word", [.type("ab"), .select(0), .select(2), .type("c")], nil),
        ("caret put behind white space", [.type("ab "), .select(0), .select(3), .type("cde")], "cde"),
        ("stalled until a separator", [.type("ab"), .select(0), .select(2), .type("c def")], "def"),
        ("backed into an old word by white space", [.type("joe "), .backspace], "joe"),
        ("text set by code counts", [.event(.load(WrittenText("jo"))), .type("e")], "joe"),
        ("stalled after cancelling", [.type("joe"), .event(.cancelCompletion), .type("x")], nil),
        ("restarts after a separator", [.type("joe"), .event(.cancelCompletion), .type(" ann")], "ann"),
        ("explicit wins", [.type("joe"), .respond(with: ["Joe"]), .type(" @")], nil),
        (
            "words met nothing when the next was begun",
            [.type("joe"), .respond(with: ["Joe"]), .type(" ann"), .wait, .respond(with: [])], "ann"
        ),
        (
            "words met nothing before the next",
            [.type("joe"), .respond(with: ["Joe"]), .type(" "), .wait, .respond(with: []), .type("ann")],
            "ann"
        ),
    ]

    @Test(arguments: implicit)
    func implicitQueriesOpenAndClose(name: String, steps: [Step], query: String?) {
        var script = ComposerScript(.preset(.hakawai))
        script.send(.focus(true))
        for step in steps {
            switch step {
            case .type(let text): script.type(text)
            case .backspace: script.send(.deleteBackward(byWord: false))
            case .respond(with: let names): script.respond(with: names)
            case .select(let offset): script.send(.select(.caret(offset)))
            case .event(let event): script.send(event)
            case .fail, .wait: script.wait()
            }
        }
        let completion = script.completion
        #expect((completion?.kind == .implicit ? completion?.query : nil) == query)
        if name == "explicit wins" { #expect(completion?.kind == .explicit) }
    }

    /// An implicit list does not capture Return, which sends until the user navigates into the list.
    @Test func implicitListDoesNotCaptureReturn() {
        var script = ComposerScript(.preset(.hakawai))
        script.type("joe")
        script.respond(with: ["Joe Doe"])
        #expect(script.completion?.selected == nil && script.completion?.isVisible == true)
        var other = script
        script.press("Return")
        #expect(script.sent.map(\.text.source) == ["joe"])
        other.press("Down")
        other.press("Return")
        #expect(other.text == "Joe Doe" && other.sent.isEmpty)
    }
}
