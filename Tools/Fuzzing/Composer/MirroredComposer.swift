public import Composer

/// A composer with a copy of its text that only changes by the effects.
public struct MirroredComposer: Sendable {
    public private(set) var engine: ComposerEngine
    /// The text that a window would show after applying the effects, in UTF-16 code units.
    public private(set) var mirror: [UInt16]
    public private(set) var mirroredSelection: TextRange
    /// For each code unit, whether a window would mark it as misspelled.
    public private(set) var misspelled: [Bool]
    public private(set) var effects: [ComposerEffect] = []

    public init(_ engine: ComposerEngine) {
        self.engine = engine
        mirror = Array(engine.document.text.utf16)
        mirroredSelection = engine.selection
        misspelled = Self.marks(engine.misspelled, mirror.count)
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
                    mark(edit)
                }
            case .selectionChanged(let selection): mirroredSelection = selection
            case .misspelled(let words, let part):
                guard part.location >= 0, part.end <= mirror.count, words.allSatisfy({ $0.end <= mirror.count }) else {
                    return "misspelled words out of range: \(effect)"
                }
                for unit in part.location..<part.end { misspelled[unit] = false }
                for word in words { for unit in word.location..<word.end { misspelled[unit] = true } }
            default: break
            }
        }
        return nil
    }

    /// Moves the marks like a text view: text inserted within a mark is marked, too.
    private mutating func mark(_ edit: AppliedEdit) {
        let (start, end) = (edit.range.location, edit.range.end)
        misspelled.removeSubrange(start..<end)
        let isWithin = start > 0 && start < misspelled.count && misspelled[start - 1] && misspelled[start]
        misspelled.insert(contentsOf: repeatElement(isWithin, count: edit.replacement.utf16.count), at: start)
    }

    /// For each code unit of a text, whether one of the ranges covers it.
    static func marks(_ ranges: [TextRange], _ count: Int) -> [Bool] {
        var marks = Array(repeating: false, count: count)
        for range in ranges { for unit in range.location..<range.end { marks[unit] = true } }
        return marks
    }
}
