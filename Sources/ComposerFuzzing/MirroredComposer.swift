public import Composer

/// A composer with a plain copy of its text beside it, which is changed by nothing but the effects.
public struct MirroredComposer: Sendable {
    public private(set) var engine: ComposerEngine
    /// The text as a window that carries out the effects would have it, in UTF-16 units.
    public private(set) var mirror: [UInt16]
    public private(set) var mirroredSelection: TextRange
    public private(set) var effects: [ComposerEffect] = []

    public init(_ engine: ComposerEngine) {
        self.engine = engine
        mirror = Array(engine.document.text.utf16)
        mirroredSelection = engine.selection
    }

    /// Hands an event on and carries the effects out on the copy.
    ///
    /// - Returns: what is wrong with an effect; nil if nothing is.
    public mutating func handle(_ event: ComposerEvent, at time: Duration) -> String? {
        perform(.event(event), at: time)
    }

    /// Does something to the composer and carries the effects out on the copy.
    ///
    /// - Returns: what is wrong with an effect; nil if nothing is.
    public mutating func perform(_ step: FuzzStep, at time: Duration) -> String? {
        effects = step.apply(to: &engine, at: time)
        for effect in effects {
            switch effect {
            case .edited(let edits):
                for edit in edits {
                    guard edit.range.location >= 0, edit.range.length >= 0, edit.range.end <= mirror.count else {
                        return "edit out of range: \(edit)"
                    }
                    if edit.range.isEmpty, edit.replacement.isEmpty { return "edit of nothing: \(edit)" }
                    mirror.replaceSubrange(edit.range.location..<edit.range.end, with: edit.replacement.utf16)
                }
            case .selectionChanged(let selection): mirroredSelection = selection
            default: break
            }
        }
        return nil
    }
}
