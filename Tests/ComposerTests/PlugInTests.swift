import Composer
import Synchronization
import Testing

/// HKW-4, HKW-5, HKW-6, HKW-30.
struct PlugInTests {
    @Test func observersReceiveEventsInOrder() {
        var script = ComposerScript()
        let listener = FakeObserver(name: "ear")
        script.add(observer: listener)
        script.add(observer: FakeObserver(name: "ear"))
        script.type("ab")
        script.send(.edit(TextRange(location: 0, length: 1), replacement: "x", origin: .paste))
        script.send(.deleteBackward(byWord: false))
        #expect(
            listener.log.filter { $0.contains(" ") } == [
                "inserted a typed", "inserted b typed", "replaced x paste", "deleted  typed",
            ])
        #expect(listener.log.first == "attached")
        script.removeObserver(named: "ear")
        script.removeObserver(named: "ear")
        script.type("c")
        #expect(listener.log.last == "detached" && listener.log.count { $0 == "detached" } == 1)
    }

    @Test func interceptorsRunInOrderUntilOneDenies() {
        var script = ComposerScript()
        script.add(interceptor: Rejection(rejected: "a"))
        script.add(interceptor: HandlingInterceptor(text: "b"))
        script.type("abc")
        #expect(script.text == "c")
        script.removeInterceptor(named: "rejection of a")
        script.type("a")
        #expect(script.text == "ca")
    }

    @Test func codeAndUndoAreNotIntercepted() {
        var script = ComposerScript()
        script.load("a")
        script.add(interceptor: Rejection(rejected: ""))
        script.send(.deleteBackward(byWord: false))
        #expect(script.text == "a" && script.effects.contains(.rejected(.denied(by: "rejection of "))))
        script.send(.undo)
        #expect(script.text == "")
    }

    @Test func onlyOneInputControllerIsActive() {
        var script = ComposerScript()
        let first = FakeController(name: "first")
        let second = FakeController(name: "second")
        script.setInputController(first)
        script.type("a")
        #expect(script.text == "A")
        script.setInputController(second)
        #expect(first.listener.log == ["attached", "detached"] && second.listener.log == ["attached"])
        script.setInputController(nil)
        script.type("a")
        #expect(script.text == "Aa" && second.listener.log == ["attached", "detached"])
    }

    @Test("HKW-6: what a controller appends is an undo step of its own, and dropped with a rejected event")
    func appendedEventsFollowTheEvent() {
        var script = ComposerScript()
        script.setInputController(ArrowController())
        script.type("a>")
        #expect(script.text == "a→")
        script.send(.undo)
        #expect(script.text == "a>")
        script.add(interceptor: Rejection(rejected: ">"))
        script.type(">")
        #expect(script.text == "a>")
    }
}

/// Records the calls it receives.
final class FakeObserver: ComposerObserver {
    let name: String
    private let lines = Mutex<[String]>([])
    var log: [String] { lines.withLock { $0 } }

    init(name: String) { self.name = name }

    func attached(to state: ComposerState) { lines.withLock { $0.append("attached") } }
    func detached() { lines.withLock { $0.append("detached") } }
    func observed(_ observation: ComposerObservation, state: ComposerState) {
        lines.withLock { $0.append(observation.rawValue) }
    }
    func textChanged(_ event: TextEvent) {
        lines.withLock { $0.append("\(event.kind.rawValue) \(event.inserted) \(event.origin.rawValue)") }
    }
}

/// Uppercases typed letters.
struct FakeController: ComposerInputController {
    let listener: FakeObserver
    var name: String { listener.name }

    init(name: String) { listener = FakeObserver(name: name) }

    func attached(to state: ComposerState) { listener.attached(to: state) }
    func detached() { listener.detached() }
    func control(_ event: ComposerEvent, in engine: ComposerEngine) -> InputControl {
        if case .insert(let text, let origin) = event {
            .replace([.insert(text.uppercased(), origin: origin)])
        } else {
            .pass
        }
    }
}

/// Replaces a typed `>` with an arrow.
struct ArrowController: ComposerInputController {
    let name = "arrows"

    func control(_ event: ComposerEvent, in engine: ComposerEngine) -> InputControl {
        guard case .insert(">", let origin) = event else { return .pass }
        let typed = TextRange(location: engine.selection.location, length: 1)
        return .append([.edit(typed, replacement: "→", origin: origin)])
    }
}

/// Handles one text itself, so that the composer ignores it.
struct HandlingInterceptor: ComposerInterceptor {
    let text: String
    var name: String { "swallow" }

    func intercept(_ change: TextEdit, origin: EditOrigin, in document: ComposerDocument) -> Interception {
        change.replacement == text ? .handled : .allow
    }
}

extension ComposerScript {
    mutating func add(observer: any ComposerObserver) { change { $0.add(observer: observer) } }
    mutating func add(interceptor: any ComposerInterceptor) { change { $0.add(interceptor: interceptor) } }
    mutating func removeObserver(named name: String) { change { $0.removeObserver(named: name) } }
    mutating func removeInterceptor(named name: String) { change { $0.removeInterceptor(named: name) } }
    mutating func setInputController(_ controller: (any ComposerInputController)?) {
        change { $0.setInputController(controller) }
    }
}
