import Composer
import Testing

/// HKW-33: suspending observation.
struct SuspendedObservationTests {
    /// Calls to suspend and resume observation around typing "- a", Return, "b"; the resulting text and state.
    static let depths: [(begun: Int, ended: Int, text: String, isIgnoring: Bool)] = [
        (0, 0, "- a\n- b", false), (1, 1, "- a\nb", false), (2, 1, "- a\nb", true), (2, 2, "- a\nb", false),
        (0, 3, "- a\n- b", false),
    ]

    @Test(arguments: depths)
    func typingRulesAreSuspendedWithObservation(begun: Int, ended: Int, text: String, isIgnoring: Bool) {
        var engine = ComposerEngine()
        for _ in 0..<begun { engine.suspendObservation() }
        for character in "- a\nb" { _ = engine.handle(.insert(String(character), origin: .typed), at: .zero) }
        for _ in 0..<ended { _ = engine.resumeObservation(at: .zero) }
        #expect(engine.document.text == text)
        #expect(engine.isObservationSuspended == isIgnoring)
    }

    @Test func unbalancedResumeIsHarmless() {
        var engine = ComposerEngine()
        #expect(engine.resumeObservation(at: .zero) == [])
        engine.suspendObservation()
        #expect(engine.isObservationSuspended)
    }

    /// Initial text, event while suspended, what observers receive on resuming.
    static let changes: [(String, ComposerEvent, [String])] = [
        ("abcd", .edit(TextRange(location: 1, length: 2), replacement: "xyz", origin: .typed), ["replaced xyz code"]),
        ("abcd", .deleteBackward(byWord: false), ["deleted  code"]),
        ("abcd", .insert("d", origin: .paste), ["inserted d code"]),
        ("ab", .insert("", origin: .typed), []),
        ("👩‍💻", .edit(TextRange(location: 0, length: 0), replacement: "é", origin: .code), ["inserted é code"]),
    ]

    @Test(arguments: changes)
    func suspendedObserversReceiveOneChangeAtTheEnd(before: String, event: ComposerEvent, received: [String]) {
        var engine = ComposerEngine()
        _ = engine.handle(.load(WrittenText(before)), at: .zero)
        let listener = FakeObserver(name: "ear")
        engine.add(observer: listener)
        engine.suspendObservation()
        engine.suspendObservation()
        let effects = engine.handle(event, at: .zero) + engine.resumeObservation(at: .zero)
        #expect(listener.log == ["attached"])
        #expect(!effects.contains { if case .observed = $0 { true } else { false } })
        #expect(!effects.contains(.typing(true)))
        let last = engine.resumeObservation(at: .zero)
        #expect(listener.log.filter { $0.contains(" ") } == received)
        #expect(last.contains(.observed(.textChanged)) == !received.isEmpty)
    }

    /// The window still receives every change, as it mirrors the text.
    @Test func hostReceivesChangesWhileSuspended() {
        var engine = ComposerEngine()
        engine.suspendObservation()
        let effects = engine.handle(.insert("a", origin: .typed), at: .zero)
        #expect(effects.contains(.edited([AppliedEdit(range: .caret(0), replacement: "a")])))
        #expect(effects.contains(.selectionChanged(.caret(1))))
    }

    @Test func interceptorsAreSkippedWhileSuspended() {
        var engine = ComposerEngine()
        engine.add(interceptor: Rejection(rejected: "a"))
        engine.suspendObservation()
        _ = engine.handle(.insert("a", origin: .typed), at: .zero)
        #expect(engine.document.text == "a")
    }

    /// Event on "one two👩‍💻" with the caret at the end, resulting text, whether the event was rejected.
    static let deletions: [(ComposerEvent, String, Bool)] = [
        (.deleteBackward(byWord: false), "one two👩‍💻", true),
        (.edit(TextRange(location: 0, length: 1), replacement: "", origin: .typed), "one two👩‍💻", true),
        (.edit(TextRange(location: 0, length: 4), replacement: "", origin: .typed), "two👩‍💻", false),
        (.edit(TextRange(location: 0, length: 1), replacement: "", origin: .code), "ne two👩‍💻", false),
        (.edit(TextRange(location: 0, length: 1), replacement: "O", origin: .typed), "One two👩‍💻", false),
    ]

    @Test(arguments: deletions)
    func onlyTheNextSingleDeletionIsIgnored(event: ComposerEvent, text: String, isIgnored: Bool) {
        var engine = ComposerEngine()
        _ = engine.handle(.load(WrittenText("one two👩‍💻")), at: .zero)
        engine.ignoreNextSingleDeletion()
        let effects = engine.handle(event, at: .zero)
        #expect(engine.document.text == text)
        #expect(effects.contains(.rejected(.deletionIgnored)) == isIgnored)
        let again = engine.handle(.edit(TextRange(location: 0, length: 1), replacement: "", origin: .typed), at: .zero)
        #expect(again.contains(.rejected(.deletionIgnored)) == !isIgnored, "what was not single does not count")
    }
}
