import CGtk
package import Composer

extension KeyChord {
    /// Returns `nil` for plain characters, which belong to the input method.
    init?(keyval: UInt32, modifiers state: UInt32) {
        var modifiers: Modifiers = []
        let pairs: [(GdkModifierType, Modifiers)] = [
            (GDK_SHIFT_MASK, .shift), (GDK_CONTROL_MASK, .control), (GDK_ALT_MASK, .alt), (GDK_SUPER_MASK, .meta),
        ]
        for (mask, modifier) in pairs where state & mask.rawValue != 0 { modifiers.insert(modifier) }
        let isCharacter = gdk_keyval_to_unicode(keyval) >= 0x20 && keyval != guint(GDK_KEY_Delete)
        if isCharacter, modifiers.isDisjoint(with: [.control, .alt, .meta]) { return nil }
        guard let name = gdk_keyval_name(gdk_keyval_to_upper(keyval)) else { return nil }
        let character = isCharacter ? Unicode.Scalar(gdk_keyval_to_unicode(gdk_keyval_to_upper(keyval))) : nil
        self.init(character.map { String(Character($0)) } ?? String(cString: name), modifiers)
    }

    /// Whether the key types a visible character or is a dead key: those start a message wherever the focus is.
    package static func isWriting(_ key: Int32) -> Bool {
        let character = gdk_keyval_to_unicode(guint(bitPattern: key))
        return character > 0x20 && character != 0x7F || (GDK_KEY_dead_grave...GDK_KEY_dead_greek).contains(key)
    }

    /// Whether the chord opens the context menu.
    var opensMenu: Bool { self == KeyChord("Menu") || self == KeyChord("F10", .shift) }
}
