import Composer
import Testing

/// Typing notifications sent (MCV-12) and received (SLK-40, SLK-41), on a manual clock.
struct PresenceTests {
    private func typingStates(_ effects: [ComposerEffect]) -> [Bool] {
        effects.compactMap { if case .typing(let isTyping) = $0 { isTyping } else { nil } }
    }

    @Test func typingIsReportedRenewedAndStopped() {
        var engine = ComposerEngine()
        var log: [(Int, Bool)] = []
        for millisecond in stride(from: 0, through: 7000, by: 500) {
            let effects = engine.handle(.insert("a", origin: .typed), at: .milliseconds(millisecond))
            log += typingStates(effects).map { (millisecond, $0) }
        }
        #expect(log.map(\.0) == [0, 3000, 6000] && log.allSatisfy(\.1))
        #expect(typingStates(engine.advance(to: .milliseconds(11_999))) == [])
        #expect(engine.nextDeadline == .seconds(12))
        #expect(typingStates(engine.advance(to: .seconds(12))) == [false])
        #expect(engine.nextDeadline == nil)
    }

    /// An event after typing "a", and the typing notifications it causes.
    static let tellings: [(ComposerEvent, [Bool])] = [
        (.insert("b", origin: .typed), []), (.deleteBackward(byWord: false), [false]), (.send, [false]),
        (.clear, [false]),
        (.insert("b", origin: .code), []), (.undo, [false]), (.startEdit(id: "m", WrittenText("x")), [false]),
        (.select(.caret(0)), []),
    ]

    @Test(arguments: tellings)
    func onlyUserEditsReportTyping(event: ComposerEvent, expected: [Bool]) {
        var engine = ComposerEngine()
        #expect(typingStates(engine.handle(.insert("a", origin: .typed), at: .zero)) == [true])
        #expect(typingStates(engine.handle(event, at: .milliseconds(10))) == expected)
    }

    @Test(arguments: [
        ComposerEvent.load(WrittenText("a")), .insert(" ", origin: .typed), .insert("a", origin: .code),
    ])
    func codeAndWhiteSpaceReportNoTyping(event: ComposerEvent) {
        var engine = ComposerEngine()
        #expect(typingStates(engine.handle(event, at: .zero)) == [])
    }

    /// SLK-40: names, text of the indicator.
    static let texts: [([String], String?)] = [
        ([], nil), (["Ann"], "Ann is typing…"), (["Ann", "Bo"], "Ann & Bo are typing…"),
        (["Ann", "Bo", "Cy"], "Several people are typing…"), (["Ann", "Ann"], "Ann is typing…"),
        (["{1}", "{0}"], "{1} & {0} are typing…"), ([""], nil),
    ]

    @Test(arguments: texts)
    func typingTextNamesTheUsers(names: [String], text: String?) {
        var script = ComposerScript()
        for name in names { script.send(.userTyping(name: name, true)) }
        #expect(script.state.typing == text)
    }

    @Test func typingNamesExpireUnlessRenewed() {
        var engine = ComposerEngine()
        _ = engine.handle(.userTyping(name: "Ann", true), at: .zero)
        _ = engine.handle(.userTyping(name: "Bo", true), at: .seconds(2))
        _ = engine.handle(.userTyping(name: "Ann", true), at: .seconds(4))
        _ = engine.advance(to: .milliseconds(7999))
        #expect(engine.state.typingNames == ["Ann", "Bo"])
        _ = engine.advance(to: .seconds(8))
        #expect(engine.state.typingNames == ["Ann"])
        _ = engine.advance(to: .seconds(10))
        #expect(engine.state.typing == nil)
    }

    @Test func typingNamesStayWithoutATimeout() {
        var configuration = ComposerConfiguration()
        configuration.typingTimeout = .zero
        var engine = ComposerEngine(configuration: configuration)
        _ = engine.handle(.userTyping(name: "Ann", true), at: .zero)
        #expect(engine.nextDeadline == nil)
        _ = engine.advance(to: .seconds(100_000))
        #expect(engine.state.typingNames == ["Ann"])
        _ = engine.handle(.userTyping(name: "Ann", false), at: .seconds(100_000))
        #expect(engine.state.typingNames == [])
    }

    /// SLK-41: hidden from the prefix until completion closes or has no rows.
    @Test func typingIndicatorIsHiddenWhileCompleting() {
        var script = ComposerScript()
        script.send(.userTyping(name: "Ann", true))
        script.type("@")
        #expect(script.state.typing == nil && script.state.typingNames == ["Ann"])
        let query = script.engine.completion?.openQuery ?? ""
        script.send(.completionResults(query: query, [CompletionEntity(id: "b", name: "Bob")], isFinal: true))
        #expect(script.state.typing == nil)
        script.press("Escape")
        #expect(script.state.typing == "Ann is typing…")
    }

    /// ⚠ SLK-41: an indicator suppressed while editing never reappeared.
    @Test func typingIndicatorIsHiddenWhileEditing() {
        var script = ComposerScript()
        script.send(.startEdit(id: "m", WrittenText("x")))
        script.send(.userTyping(name: "Ann", true))
        #expect(script.state.typing == nil)
        script.send(.cancelEdit)
        #expect(script.state.typing == "Ann is typing…")
    }
}
