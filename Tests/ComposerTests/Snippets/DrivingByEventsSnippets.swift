import Composer
import Testing

// The code of Composer.docc/DrivingByEvents.md. `make lint` compares each block with a snippet.

// snippet
struct Host {
    var engine = ComposerEngine()
    /// What the view shows.
    var displayed = ComposerDocument()
    var sent: [String] = []
    let people: CompletionIndex

    mutating func handle(_ event: ComposerEvent, at now: Duration) {
        perform(engine.handle(event, at: now), at: now)
    }

    mutating func perform(_ effects: [ComposerEffect], at now: Duration) {
        for effect in effects {
            switch effect {
            case .edited(let edits):
                for edit in edits { _ = displayed.mirror(edit) }
            case .send(let message):
                sent.append(message.text.source)
                handle(.sendAccepted(message.id), at: now)
            case .completion(.query(let query)):
                let matches = people.matches(of: query.text, limit: 20)
                handle(.completionResults(query: query.id, matches, isFinal: true), at: now)
            default: break
            }
        }
    }
}
// end snippet

struct DrivingByEventsSnippets {
    @Test("A host mirrors, completes and sends")
    func hostCompletesAndSends() {
        // snippet
        let ann = CompletionEntity(id: "ann", name: "Ann Lee", target: .member("@ann:example.org"))
        var host = Host(people: CompletionIndex([ann]))
        var now = Duration.zero
        host.handle(.focus(true), at: now)
        for letter in "Hello @an" {
            now += .milliseconds(200)
            host.handle(.insert(String(letter), origin: .typed), at: now)
        }
        host.handle(.key(KeyChord("Tab")), at: now)
        // The view shows "Hello @Ann Lee ", whose mention is one unit.
        // end snippet
        #expect(host.displayed.text == "Hello @Ann Lee ")
        #expect(host.engine.document.mentions.count == 1)
        // snippet
        host.handle(.key(KeyChord("Return")), at: now)
        // The host got "Hello @Ann Lee", and the view is empty.
        // end snippet
        #expect(host.sent == ["Hello @Ann Lee"])
        #expect(host.displayed.text.isEmpty)
        #expect(!host.engine.state.isSending)
    }

    @Test("An expired timer has effects")
    func timerHasEffects() {
        var host = Host(people: CompletionIndex([]))
        host.handle(.insert("Hello", origin: .typed), at: .zero)
        // snippet
        if let deadline = host.engine.nextDeadline {
            // A program sets a timer that does this; a test does it at once.
            host.perform(host.engine.advance(to: deadline), at: deadline)
        }
        // end snippet
        #expect(host.engine.nextDeadline != .milliseconds(500))
    }

    @Test("A draft restores text and caret")
    func draftRestoresTextAndCaret() throws {
        var engine = ComposerEngine()
        _ = engine.handle(.insert("Hello", origin: .typed), at: .zero)
        _ = engine.handle(.select(.caret(2)), at: .zero)
        // snippet
        let data = try engine.makeDraft().encoded()

        var later = ComposerEngine()
        let effects = later.restore(try ComposerDraft.decode(data))
        // end snippet
        #expect(later.document.text == "Hello")
        #expect(later.selection == .caret(2))
        #expect(effects.contains { if case .edited = $0 { true } else { false } })
    }

    /// README.md.
    @Test("An engine returns its effects")
    func engineReturnsItsEffects() {
        var displayed = ComposerDocument()
        func mirror(_ edits: [AppliedEdit]) { for edit in edits { _ = displayed.mirror(edit) } }
        var delivered: [String] = []
        func deliver(_ text: String) {
            #expect(displayed.text == "Hello *world*")
            delivered.append(text)
        }
        // snippet
        var engine = ComposerEngine(configuration: .preset(.slack))
        for effect in engine.handle(.insert("Hello *world*", origin: .typed), at: .zero) {
            if case .edited(let edits) = effect { mirror(edits) }
        }
        for effect in engine.handle(.send, at: .seconds(1)) {
            if case .send(let message) = effect { deliver(message.text.source) }
        }
        // end snippet
        #expect(delivered == ["Hello *world*"])
    }
}
