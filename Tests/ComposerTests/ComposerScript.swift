import Composer
import ComposerFuzzing
import Testing

/// A composer for tests: a clock that only they move, and a mirror that checks every effect.
struct ComposerScript {
    private(set) var composer: MirroredComposer
    var now = Duration.zero

    init(_ configuration: ComposerConfiguration = ComposerConfiguration()) {
        composer = MirroredComposer(ComposerEngine(configuration: configuration))
    }

    var engine: ComposerEngine { composer.engine }
    var text: String { engine.document.text }
    var state: ComposerState { engine.state }
    /// The effects of the last event.
    var effects: [ComposerEffect] { composer.effects }
    /// The messages that the last event handed over.
    var sent: [ComposedMessage] {
        effects.compactMap { if case .send(let message) = $0 { message } else { nil } }
    }

    mutating func send(_ event: ComposerEvent) {
        #expect(composer.handle(event, at: now) == nil)
        #expect(Invariants.violation(of: composer) == nil)
    }

    /// Changes the composer otherwise than by an event.
    mutating func change(_ body: (inout ComposerEngine) -> Void) {
        var engine = composer.engine
        body(&engine)
        composer = MirroredComposer(engine)
    }

    /// As a person types: one event a character.
    mutating func type(_ text: String) {
        for character in text { send(.insert(String(character), origin: .typed)) }
    }

    mutating func press(_ chord: String) {
        send(.key(KeyChord(parsing: chord)!))
    }

    mutating func load(_ text: String, select range: TextRange? = nil) {
        send(.load(WrittenText(text), selection: range))
    }
}
