import Testing

@testable import Composer

/// Completion in isolation: documents and triggers in, requests and observations out.
struct CompletionTrackerTests {
    private static let options = CompletionOptions(rules: [CompletionRule(prefix: "@")], resultsThrottle: 0)

    /// A tracker and its document.
    private struct Bench {
        var tracker = CompletionTracker(CompletionTrackerTests.options)
        var document = ComposerDocument()
        var transaction = EventTransaction()

        var site: CompletionSite {
            CompletionSite(
                document: document, selection: .caret(document.length), options: CompletionTrackerTests.options,
                isFocused: true)
        }

        var requests: [CompletionRequest] {
            transaction.report(selection: nil, reportsMove: false, isObserved: false).effects.compactMap {
                if case .completion(let request) = $0 { request } else { nil }
            }
        }

        mutating func type(_ text: String) {
            for character in text {
                let edit = document.replace(.caret(document.length), with: String(character))
                tracker.apply(edit)
                tracker.update(after: .typed(String(character)), at: site, isComposing: false, &transaction)
            }
        }

        mutating func respond(with names: String...) {
            guard let id = tracker.session?.openQueryID else { return }
            let entities = names.map { CompletionEntity(id: $0, name: $0) }
            tracker.receive(entities, for: id, isFinal: true, at: site, &transaction)
        }
    }

    @Test("Each character of a query cancels the query before")
    func eachCharacterCancelsThePreviousQuery() {
        var bench = Bench()
        bench.type("@a")
        let queries = bench.requests
        #expect(queries.count == 3)
        guard case .query(let first)? = queries.first, case .query(let last)? = queries.last else {
            Issue.record("no queries")
            return
        }
        #expect(first.text.isEmpty && last.text == "a" && queries[1] == .cancel(first.id))
    }

    @Test("A list without results stays closed for longer queries with the same start")
    func emptyListStaysClosedForTheWord() {
        var bench = Bench()
        bench.type("@x")
        bench.respond()
        #expect(!bench.tracker.isOpen)
        bench.type("y")
        #expect(!bench.tracker.isOpen)
        bench.type(" @")
        #expect(bench.tracker.isOpen)
    }

    @Test("While an input method composes, completion is closed")
    func preeditClosesCompletion() {
        var bench = Bench()
        bench.type("@a")
        bench.respond(with: "Ann")
        #expect(bench.tracker.isVisible)
        bench.tracker.update(after: .moved, at: bench.site, isComposing: true, &bench.transaction)
        #expect(!bench.tracker.isOpen)
    }

    @Test("The list returns with the focus if nothing changed")
    func focusReopensTheList() {
        var bench = Bench()
        bench.type("@a")
        bench.tracker.suspend(at: bench.site, &bench.transaction)
        #expect(!bench.tracker.isOpen)
        bench.tracker.resume(at: bench.site, &bench.transaction)
        #expect(bench.tracker.isOpen)
    }

    @Test("Accepting replaces the token by a mention and a space")
    func acceptingInsertsAMention() throws {
        var bench = Bench()
        bench.type("hi @a")
        bench.respond(with: "Ann")
        let selected = bench.tracker.entity(accepting: nil, Self.options, &bench.transaction)
        let entity = try #require(selected)
        let accepted = bench.tracker.acceptance(of: entity, at: bench.site, &bench.transaction)
        let acceptance = try #require(accepted)
        #expect(acceptance.range == TextRange(location: 3, length: 2))
        #expect(acceptance.change.edits == [TextEdit(range: acceptance.range, replacement: "@Ann ")])
        #expect(acceptance.change.marks.map(\.range) == [TextRange(location: 3, length: 4)])
    }
}
