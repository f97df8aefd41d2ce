import Composer
import Foundation

/// The engine behind a model, which calls plug-ins of the host while it is at work.
///
/// What those ask of the model meanwhile is answered by what was before, and what they want done waits until the work is.
/// Without this Swift would end the program: the engine is a value that cannot be read while it is being changed.
@dynamicMemberLookup
final class HostedEngine {
    typealias Work = (inout ComposerEngine) -> [ComposerEffect]

    /// Nil while it is at work.
    private var engine: ComposerEngine?
    /// The engine as it was when the work began.
    private var before: ComposerEngine
    private var waiting: [Work] = []

    init(_ configuration: ComposerConfiguration) {
        before = ComposerEngine(configuration: configuration)
        engine = before
    }

    /// The engine as it is, or as it was before the work that is being done.
    var value: ComposerEngine { engine ?? before }

    subscript<Value>(dynamicMember path: KeyPath<ComposerEngine, Value>) -> Value { value[keyPath: path] }

    /// - Returns: the effects of this and of what was asked for meanwhile, in order; none if it has to wait itself.
    func run(_ work: @escaping Work) -> [ComposerEffect] {
        guard var working = engine else {
            waiting.append(work)
            return []
        }
        // A copy costs one of what the work changes: made where somebody is there to ask for it.
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

    /// Does what has no effects.
    func change(_ body: @escaping (inout ComposerEngine) -> Void) {
        _ = run { engine in
            body(&engine)
            return []
        }
    }
}
