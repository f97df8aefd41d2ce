public import Composer

/// A composer with a copy of its text that only changes by the effects.
public struct MirroredComposer: Sendable {
    public private(set) var engine: ComposerEngine
    /// The text that a window would show after applying the effects, in UTF-16 code units.
    public private(set) var mirror: [UInt16]
    public private(set) var mirroredSelection: TextRange
    public private(set) var effects: [ComposerEffect] = []

    public init(_ engine: ComposerEngine) {
        self.engine = engine
        mirror = Array(engine.document.text.utf16)
        mirroredSelection = engine.selection
    }

    /// Handles an event and applies its effects to the copy.
    ///
    /// - Returns: a description of an invalid effect, or `nil`.
    public mutating func handle(_ event: ComposerEvent, at time: Duration) -> String? {
        perform(.event(event), at: time)
    }

    /// Performs a step and applies its effects to the copy.
    ///
    /// - Returns: a description of an invalid effect, or `nil`.
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
