/// The action of a key in the composer.
public enum KeyAction: Hashable, Sendable {
    /// Sends the message, or commits the edit.
    case send
    case insertNewline
    /// Inserts a tab, as the Tab key alone moves the focus.
    case insertTab
    /// Closes one layer: completion, edit mode, reply, selection, focus (SLK-45).
    case escape
    /// Requests to edit the user's latest message (SLK-46).
    case editLast
    case undo, redo
    /// Formats the selection by the rule with this title or symbol.
    case format(String)
    /// Removes all styles from the selection.
    case clearStyles
    case selectAll
    case cut, copy
    /// Clears the composer, undoably (SLK-43).
    case clear
    /// Toggles the tall editor (MIB-8).
    case toggleExpanded
    /// Selects another row of the completion list.
    case moveInCompletion(CompletionMove)
    /// Accepts the selected row of the completion list, or the first.
    case acceptCompletion
    /// Handled by the host; reported as ``ComposerEffect/hostAction(_:)``.
    case host(String)
}

/// The conditions of a key binding, all of which must hold.
public struct KeyContext: OptionSet, Hashable, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// The composer has neither text nor attachments.
    public static let empty = KeyContext(rawValue: 1)
    /// A message is being edited.
    public static let editing = KeyContext(rawValue: 2)
    /// No message is being edited.
    public static let composing = KeyContext(rawValue: 4)
    /// The selection isn't empty.
    public static let selection = KeyContext(rawValue: 8)
    /// The completion list is open.
    public static let completing = KeyContext(rawValue: 16)
    /// A row of the completion list is selected.
    public static let choosing = KeyContext(rawValue: 32)
}

extension MessageWriter {
    /// The current conditions for ``KeyTable/action(for:in:)``.
    var keyContext: KeyContext {
        var context: KeyContext = writing.isEditing ? .editing : .composing
        if editor.text.document.isEmpty, attachments.items.isEmpty { context.insert(.empty) }
        if !editor.selection.isEmpty { context.insert(.selection) }
        if let session = editor.followers.completing.session, session.isVisible, !session.items.isEmpty {
            context.insert(.completing)
            if session.selected != nil { context.insert(.choosing) }
        }
        return context
    }
}

/// A row of the key table (SLK-47).
public struct KeyBinding: Hashable, Sendable {
    public var chord: KeyChord
    public var context: KeyContext
    public var action: KeyAction
    /// The title in the shortcuts window; `nil` omits the binding there.
    public var title: String?

    public init(_ chord: KeyChord, _ action: KeyAction, context: KeyContext = [], title: String? = nil) {
        self.chord = chord
        self.context = context
        self.action = action
        self.title = title
    }
}

/// The key bindings of a composer: {key, modifiers, context} → action. Later rows take precedence, so hosts extend
/// the table by appending.
public struct KeyTable: Hashable, Sendable {
    public private(set) var bindings: [KeyBinding]

    public init(_ bindings: [KeyBinding]) {
        self.bindings = []
        for binding in bindings { add(binding) }
    }

    /// Adds a row, replacing one with the same chord and context (SLK-47).
    public mutating func add(_ binding: KeyBinding) {
        bindings.removeAll { $0.chord == binding.chord && $0.context == binding.context }
        bindings.append(binding)
    }

    public mutating func remove(_ chord: KeyChord, context: KeyContext = []) {
        bindings.removeAll { $0.chord == chord && $0.context == context }
    }

    mutating func remove(exactly binding: KeyBinding) {
        bindings.removeAll { $0 == binding }
    }

    /// Returns the action of a chord in a context: the row with the most conditions wins.
    public func action(for chord: KeyChord, in context: KeyContext) -> KeyAction? {
        var best: KeyBinding?
        for binding in bindings where binding.chord == chord && context.isSuperset(of: binding.context) {
            if best == nil || binding.context.rawValue.nonzeroBitCount >= best!.context.rawValue.nonzeroBitCount {
                best = binding
            }
        }
        return best?.action
    }

    /// Returns the chords that perform an action in every context.
    public func chords(for action: KeyAction) -> [KeyChord] {
        bindings.filter { $0.action == action && $0.context.isEmpty }.map(\.chord)
    }

    /// The rows to show in a shortcuts window.
    public var listed: [KeyBinding] { bindings.filter { $0.title != nil } }

    /// Returns the default table for a configuration (SLK-28, SLK-44 to SLK-47).
    public static func standard(for configuration: ComposerConfiguration) -> KeyTable {
        let returnSends = configuration.sendKey == .return
        let rows: [KeyBinding] = [
            KeyBinding(
                KeyChord("Return"), returnSends ? .send : .insertNewline, title: returnSends ? "Send" : "New line"),
            KeyBinding(KeyChord("Return", .shift), .insertNewline, title: "New line"),
            KeyBinding(KeyChord("Return", .control), .send, title: "Send"),
            KeyBinding(KeyChord("Escape"), .escape, title: "Close"),
            KeyBinding(KeyChord("Up"), .editLast, context: [.empty, .composing], title: "Edit last message"),
            KeyBinding(KeyChord("Z", .control), .undo, title: "Undo"),
            KeyBinding(KeyChord("Z", [.control, .shift]), .redo, title: "Redo"),
            KeyBinding(KeyChord("Y", .control), .redo),
            KeyBinding(KeyChord("A", .control), .selectAll, title: "Select all"),
            KeyBinding(KeyChord("X", .control), .cut, context: .selection),
            KeyBinding(KeyChord("C", .control), .copy, context: .selection),
            KeyBinding(KeyChord("\\", .control), .clearStyles, title: "Clear formatting"),
            KeyBinding(KeyChord("BackSpace", [.control, .shift]), .clear, title: "Clear"),
            KeyBinding(KeyChord("E", [.control, .shift]), .toggleExpanded, title: "Expand editor"),
            KeyBinding(KeyChord("Tab", .control), .insertTab, title: "Insert a tab"),
        ]
        return KeyTable(rows + completion + formats(configuration))
    }

    /// An implicit list only handles Down and Tab until the user selects a row.
    private static let completion: [KeyBinding] = [
        KeyBinding(KeyChord("Down"), .moveInCompletion(.next), context: .completing),
        KeyBinding(KeyChord("Up"), .moveInCompletion(.previous), context: .choosing),
        KeyBinding(KeyChord("Home"), .moveInCompletion(.first), context: .choosing),
        KeyBinding(KeyChord("End"), .moveInCompletion(.last), context: .choosing),
        KeyBinding(KeyChord("Page_Down"), .moveInCompletion(.nextPage), context: .choosing),
        KeyBinding(KeyChord("Page_Up"), .moveInCompletion(.previousPage), context: .choosing),
        KeyBinding(KeyChord("Return"), .acceptCompletion, context: .choosing),
        KeyBinding(KeyChord("Tab"), .acceptCompletion, context: .completing),
    ]

    private static func formats(_ configuration: ComposerConfiguration) -> [KeyBinding] {
        let chords: [(KeyChord, MarkdownRule.Kind)] = [
            (KeyChord("B", .control), .bold), (KeyChord("I", .control), .italic),
            (KeyChord("X", [.control, .shift]), .strikethrough), (KeyChord("E", .control), .code),
            (KeyChord("C", [.control, .shift]), .codeBlock), (KeyChord("K", [.control, .shift]), .link),
        ]
        return chords.compactMap { chord, kind in
            configuration.markdown.first { $0.kind == kind }.map {
                KeyBinding(chord, .format($0.title), title: $0.title)
            }
        }
    }
}
