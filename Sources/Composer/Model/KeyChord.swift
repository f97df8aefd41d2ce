/// A key with its modifiers.
public struct KeyChord: Hashable, Sendable, Codable {
    public struct Modifiers: OptionSet, Hashable, Sendable, Codable {
        public let rawValue: Int

        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        public static let shift = Modifiers(rawValue: 1)
        public static let control = Modifiers(rawValue: 2)
        public static let alt = Modifiers(rawValue: 4)
        public static let meta = Modifiers(rawValue: 8)
    }

    /// The GDK key name (`Return`, `Escape`, `Up`), or the character typed, with letters in upper case.
    public let key: String
    public let modifiers: Modifiers

    public init(_ key: String, _ modifiers: Modifiers = []) {
        self.key = Self.canonical(key)
        self.modifiers = modifiers
    }

    /// Parses `Ctrl+Shift+Z`. Returns `nil` for an unknown modifier or key.
    public init?(parsing text: String) {
        var components = text.split(separator: "+", omittingEmptySubsequences: false).map(String.init)
        if text == "+" || text.hasSuffix("++") {
            components.removeLast(2)
            components.append("+")
        }
        guard let key = components.popLast(), Self.isKey(key) else { return nil }
        var modifiers: Modifiers = []
        for component in components {
            guard let modifier = Self.modifierNames[component.lowercased()] else { return nil }
            modifiers.insert(modifier)
        }
        self.init(key, modifiers)
    }

    private static let modifierNames: [String: Modifiers] = [
        "shift": .shift, "ctrl": .control, "control": .control, "alt": .alt, "meta": .meta, "super": .meta,
        "cmd": .meta,
    ]

    private static let namedKeys: [String] =
        [
            "Return", "Escape", "Up", "Down", "Left", "Right", "Tab", "BackSpace", "Delete", "Home", "End",
            "Page_Up", "Page_Down", "Insert", "Menu", "space",
        ] + (1...24).map { "F\($0)" }

    private static let aliases: [String: String] = [
        "enter": "Return", "kp_enter": "Return", "iso_enter": "Return", "esc": "Escape", "backspace": "BackSpace",
        "iso_left_tab": "Tab", "pageup": "Page_Up", "pagedown": "Page_Down", "arrowup": "Up", "arrowdown": "Down",
        "arrowleft": "Left", "arrowright": "Right", "del": "Delete", " ": "space",
    ]

    private static let canonicalNames: [String: String] = {
        var names = aliases
        for name in namedKeys { names[name.lowercased()] = name }
        return names
    }()

    private static func isKey(_ key: String) -> Bool {
        key.count == 1 || canonicalNames[key.lowercased()] != nil
    }

    private static func canonical(_ key: String) -> String {
        canonicalNames[key.lowercased()] ?? (key.count == 1 ? key.uppercased() : key)
    }
}

extension KeyChord: CustomStringConvertible {
    /// The conventional notation: `Ctrl+Shift+Z`.
    public var description: String {
        let names = [(Modifiers.control, "Ctrl"), (.alt, "Alt"), (.shift, "Shift"), (.meta, "Super")]
        return (names.filter { modifiers.contains($0.0) }.map(\.1) + [key]).joined(separator: "+")
    }
}
