import Composer
import Foundation

/// A model's engine, which calls the host's plug-ins while it is being mutated.
///
/// If a plug-in accesses the model meanwhile, reads return the previous state and changes are queued. Without this,
/// they would violate Swift's exclusive access to the engine and trap.
@dynamicMemberLookup
final class HostedEngine {
    typealias Work = (inout ComposerEngine) -> [ComposerEffect]

    /// `nil` while work is running.
    private var engine: ComposerEngine?
    /// The engine before the running work.
    private var before: ComposerEngine
    private var waiting: [Work] = []
    /// Input that waits for a stored draft; `nil` if it need not wait.
    private var pendingInput: EventQueue?

    init(_ configuration: ComposerConfiguration) {
        before = ComposerEngine(configuration: configuration)
        engine = before
    }

    /// The current engine, or the one before the running work.
    var value: ComposerEngine { engine ?? before }

    subscript<Value>(dynamicMember path: KeyPath<ComposerEngine, Value>) -> Value { value[keyPath: path] }

    /// - Returns: the effects of this and of work queued meanwhile, in order; none if it was itself queued.
    func run(_ work: @escaping Work) -> [ComposerEffect] {
        guard var working = engine else {
            waiting.append(work)
            return []
        }
        // The copy forces the work to copy the storage it changes, so make it only if plug-ins can observe it.
        if working.callsPlugIns { before = working }
        engine = nil
        var effects = work(&working)
        while !waiting.isEmpty { effects += waiting.removeFirst()(&working) }
        engine = working
        return effects
    }
}

extension HostedEngine {
    var keys: KeyTable {
        get { value.keys }
        set {
            _ = run { engine in
                engine.keys = newValue
                return []
            }
        }
    }

    func makeDraft() -> ComposerDraft { value.makeDraft() }
    func makeDraft(storing id: String) -> ComposerDraft { value.makeDraft(storing: id) }

    func handle(_ event: ComposerEvent, at now: Duration) -> [ComposerEffect] { run { $0.handle(event, at: now) } }
    func advance(to now: Duration) -> [ComposerEffect] { run { $0.advance(to: now) } }
    func restore(
        encoded data: Data, target: @escaping (_ entityID: String, _ text: String) -> MentionTarget?
    ) -> [ComposerEffect] { run { $0.restore(encoded: data, target: target) } }
    func reconfigure(_ configuration: ComposerConfiguration) -> [ComposerEffect] {
        run { $0.reconfigure(configuration) }
    }
}

// Input that waits until a stored draft is loaded.
extension HostedEngine {
    var isWaitingForDraft: Bool { pendingInput != nil }

    /// Whether text or files wait for the stored draft.
    var hasWaitingContent: Bool { pendingInput?.hasContent == true }

    func waitForDraft() { pendingInput = EventQueue() }

    /// - Returns: whether the composer consumes the event that waits; `nil` if the event need not wait.
    func enqueue(_ event: ComposerEvent) -> Bool? { pendingInput?.enqueue(event, in: value) ?? nil }

    /// Half-done edits that only undo returns to leave the composer empty.
    private var hasVisibleDraft: Bool {
        var draft = makeDraft()
        draft.suspendedEdits = nil
        return !draft.isEmpty
    }

    /// - Returns: the events that waited, to be handled now.
    func stopWaiting() -> [ComposerEvent] {
        defer { pendingInput = nil }
        return pendingInput?.replay(into: value, restored: hasVisibleDraft) ?? []
    }
}
