import Composer
import Fuzzing
import Testing

/// A composer for tests, with a manual clock and a mirror that verifies every effect.
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
    /// The messages sent by the last event.
    var sent: [ComposedMessage] {
        effects.compactMap { if case .send(let message) = $0 { message } else { nil } }
    }

    /// The edits committed by the last event.
    var committed: [ComposedMessage] {
        effects.compactMap { if case .commitEdit(_, let message) = $0 { message } else { nil } }
    }

    mutating func send(_ event: ComposerEvent) {
        #expect(composer.handle(event, at: now) == nil)
        #expect(Invariants.violation(of: composer) == nil)
    }

    /// Changes the engine directly rather than by an event.
    mutating func change(_ body: (inout ComposerEngine) -> Void) {
        var engine = composer.engine
        body(&engine)
        composer = MirroredComposer(engine)
    }

    /// Types like a user: one event per character.
    mutating func type(_ text: String) {
        for character in text { send(.insert(String(character), origin: .typed)) }
    }

    mutating func press(_ chord: String) {
        send(.key(KeyChord(parsing: chord)!))
    }

    /// Fails to save edits, as a host does.
    mutating func fail(_ edits: [ComposedMessage]) {
        #expect(!edits.isEmpty)
        for edit in edits { send(.editFailed(id: edit.id, edit)) }
    }

    mutating func load(_ text: String, select range: TextRange? = nil) {
        send(.load(WrittenText(text), selection: range))
    }
}
