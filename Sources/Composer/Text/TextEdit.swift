/// The replacement of a range by a text.
public struct TextEdit: Hashable, Sendable {
    /// The replaced range, in the text as it is after the preceding edits.
    public var range: TextRange
    /// The new text; an empty one deletes the range.
    public var replacement: String

    public init(range: TextRange, replacement: String) {
        self.range = range
        self.replacement = replacement
    }
}

extension TextEdit {
    /// Returns the offset after the edit, or `nil` if the edit deleted its position.
    func moved(_ offset: Int) -> Int? {
        if range.end <= offset { return offset + replacement.utf16.count - range.length }
        return range.location > offset ? offset : nil
    }
}

/// An edit that a document has applied, for views to mirror.
public typealias AppliedEdit = TextEdit

/// The origin of a change to the text, passed with the change rather than guessed afterwards (HKW-7, HKW-30).
public enum EditOrigin: String, Hashable, Sendable, Codable, CaseIterable {
    /// Typed by the user; the typing rules apply.
    case typed
    /// Committed by an input method.
    case inputMethod
    /// Several words at once, from dictation or word prediction (HKW-28).
    case dictation
    /// Pasted or dropped.
    case paste
    /// Undo or redo.
    case undo
    /// Set by the program.
    case code

    /// Whether the user wrote the text. Only such changes send typing notifications (MCV-12).
    public var isUserWriting: Bool {
        switch self {
        case .typed, .inputMethod, .dictation, .paste: true
        case .undo, .code: false
        }
    }
}
