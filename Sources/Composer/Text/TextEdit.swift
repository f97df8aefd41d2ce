/// One replacement of a range by a text.
public struct TextEdit: Hashable, Sendable {
    /// What is replaced, in the text as it is when this edit's turn comes.
    public var range: TextRange
    /// What comes in its place; empty deletes.
    public var replacement: String

    public init(range: TextRange, replacement: String) {
        self.range = range
        self.replacement = replacement
    }
}

/// An edit that a document has carried out, to be mirrored by whatever shows the document.
public typealias AppliedEdit = TextEdit

/// Where a change of the text comes from: the composer asks nobody to tell it apart afterwards (HKW-7, HKW-30).
public enum EditOrigin: String, Hashable, Sendable, Codable, CaseIterable {
    /// A key of the user's: the rules for typing apply.
    case typed
    /// Committed by an input method.
    case inputMethod
    /// Several words at once, as dictation and word prediction insert them (HKW-28).
    case dictation
    /// From a clipboard or a drop.
    case paste
    /// Undo or redo.
    case undo
    /// By the program.
    case code

    /// Whether the user made the change by writing: what typing notifications are sent for (MCV-12).
    public var isUserWriting: Bool {
        switch self {
        case .typed, .inputMethod, .dictation, .paste: true
        case .undo, .code: false
        }
    }
}
